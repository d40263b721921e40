import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

export interface LocalRedirect extends AsyncDisposable {
  /** Leads to the link once. It is not a secret: only processes of this user are redirected. */
  readonly url: string
  /** Resolves when a process was redirected. */
  readonly used: Promise<void>
}

/** A local address that redirects to a secret link: other users see the arguments of programs. */
export const openLocalRedirect = async (link: string): Promise<LocalRedirect> => {
  const path = `/${randomBytes(16).toString('base64url')}`
  const { promise, resolve } = Promise.withResolvers<void>()
  let isUsed = false
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const isAllowed = request.url === path && (await isOfThisUser(request.socket))
    if (!isAllowed || isUsed) return void response.writeHead(404, { Connection: 'close' }).end()
    isUsed = true
    const headers = { Location: link, 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' }
    response.writeHead(303, { ...headers, Connection: 'close' }).end(resolve)
  }
  const server = createServer((request, response) => void answer(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}${path}`,
    used: promise,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

const hex = (port = 0): string => port.toString(16).toUpperCase().padStart(4, '0')
const LOOPBACK = '0100007F'

/** Whether the other end of a connection belongs to this user. Systems other than Linux do not show that. */
const isOfThisUser = async ({ remotePort, localPort }: Socket): Promise<boolean> => {
  if (process.platform !== 'linux') return true
  const ends = ` ${LOOPBACK}:${hex(remotePort)} ${LOOPBACK}:${hex(localPort)} `
  const table = await readFile('/proc/net/tcp', 'latin1')
  const line = table.split('\n').find((one) => one.includes(ends))
  return Number(line?.trim().split(/\s+/)[7]) === process.getuid?.()
}
