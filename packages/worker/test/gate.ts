import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** A way to a server that can be shut: connections are cut and new ones refused, as when the network is gone. */
export interface Gate extends AsyncDisposable {
  /** The URL of the server, through the gate. */
  readonly url: string
  shut(): Promise<void>
  open(): Promise<void>
}

export async function openGate(target: string): Promise<Gate> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  const keep = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket))
  }
  const server = createServer((inner) => {
    const outer = connect(Number(port), hostname)
    for (const [one, other] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      keep(one)
      one.pipe(other)
      one.on('close', () => other.destroy())
    }
  })
  const listen = async (at: number): Promise<number> => {
    server.listen(at, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('the gate has no port')
    return address.port
  }
  const shut = async (): Promise<void> => {
    if (!server.listening) return
    server.close()
    for (const socket of sockets) socket.destroy()
    await once(server, 'close')
  }
  const own = await listen(0)
  const url = new URL(target)
  url.hostname = '127.0.0.1'
  url.port = String(own)
  return {
    url: url.href,
    shut,
    open: async () => void (await listen(own)),
    [Symbol.asyncDispose]: shut,
  }
}
