import { getServers } from 'node:dns'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'

/** What programs need to reach any host: name servers, and the IPv4 routers whose hardware address raw senders ask for. */
export interface Helpers {
  readonly nameServers: readonly string[]
  readonly routers: readonly string[]
}

const GATEWAY = 0x2

/** Of this machine, now. */
export const networkHelpers = (): Helpers => ({
  nameServers: getServers().filter((server) => isIP(server) !== 0),
  routers: routersIn(readFileSync('/proc/net/route', 'utf8')),
})

/** The kernel writes addresses as little-endian words. */
export const routersIn = (table: string): string[] => {
  const found = table
    .split('\n')
    .slice(1)
    .flatMap((line) => {
      const [, , gateway = '', flags = '0'] = line.split('\t')
      if ((Number.parseInt(flags, 16) & GATEWAY) === 0) return []
      return [Buffer.from(gateway, 'hex').reverse().join('.')]
    })
  return [...new Set(found)]
}
