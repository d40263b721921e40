import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

/** A proxy to the test server that can be cut and restored under the same address. */
export async function cuttableProxy(databaseUrl: string): Promise<{
  url: string
  cut(): Promise<void>
  restore(): Promise<void>
  /** Cuts all connections, then accepts new ones and never responds. Resolves after the first new connection. */
  silence(): Promise<void>
  /** Keeps connections open and forwards nothing any more. */
  freeze(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}> {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let server: Server | undefined
  let port = 0

  const restore = (): Promise<void> =>
    open((near) => {
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
  const open = async (onConnection: (near: Socket) => void): Promise<void> => {
    server = createServer(onConnection)
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    if (address && typeof address === 'object') port = address.port
  }
  const silence = async (): Promise<void> => {
    await cut()
    const { promise: caller, resolve } = Promise.withResolvers<void>()
    await open((near) => {
      sockets.add(near)
      near.on('error', () => undefined)
      near.resume()
      resolve()
    })
    await caller
  }
  const freeze = async (): Promise<void> => {
    for (const socket of sockets) socket.unpipe().pause()
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
  return { url: url.href, cut, restore, silence, freeze, [Symbol.asyncDispose]: cut }
}
