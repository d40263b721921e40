import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'

/** 127.0.0.1 as the kernel writes it, also as an address of IPv6. */
const TABLES = [
  ['/proc/net/tcp', '0100007F'],
  ['/proc/net/tcp6', '0000000000000000FFFF00000100007F'],
] as const
const UID_AT = 6

/** The user of the other end of a connection within 127.0.0.1; undefined: it has gone. */
export const peerOf = async ({ localPort = 0, remotePort = 0 }: Socket): Promise<number | undefined> => {
  const [far, near] = [remotePort, localPort].map((port) => port.toString(16).toUpperCase().padStart(4, '0'))
  for (const [file, address] of TABLES) {
    const table = await readFile(file, 'latin1')
    const at = table.indexOf(`${address}:${far} ${address}:${near} `)
    if (at >= 0) return Number(table.slice(at, table.indexOf('\n', at)).split(/\s+/)[UID_AT])
  }
  return undefined
}
