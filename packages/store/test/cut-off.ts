import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

/** A way to the test server that can be cut, and restored under the same address. */
export async function cuttableWay(databaseUrl: string): Promise<{
  url: string
  cut(): Promise<void>
  restore(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}> {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let server: Server | undefined
  let port = 0

  const restore = async (): Promise<void> => {
    server = createServer((near) => {
      const far = connect(Number(target.port), target.hostname)
      for (const [socket, other] of [
        [near, far],
        [far, near],
      ] as const) {
        sockets.add(socket)
        socket.pipe(other)
        socket.on('error', () => other.destroy())
        socket.on('close', () => {
          sockets.delete(socket)
          other.destroy()
        })
      }
    })
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    if (address && typeof address === 'object') port = address.port
  }
  const cut = async (): Promise<void> => {
    if (!server) return
    const closed = once(server, 'close')
    server.close()
    server = undefined
    for (const socket of sockets) socket.destroy()
    await closed
  }

  await restore()
  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = String(port)
  return { url: url.href, cut, restore, [Symbol.asyncDispose]: cut }
}
