import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { freePort } from '@scanfarm/testing'

/** A proxy to a server that can be closed: it cuts connections and refuses new ones, like a network failure. */
export interface Gate extends AsyncDisposable {
  /** The URL of the server, through the proxy. */
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
  // While the gate is closed, no outgoing connection may get its port, not even a connection to the gate.
  const own = await freePort()
  const listen = async (): Promise<void> => {
    server.listen(own, '127.0.0.1')
    await once(server, 'listening')
  }
  const shut = async (): Promise<void> => {
    if (!server.listening) return
    server.close()
    for (const socket of sockets) socket.destroy()
    await once(server, 'close')
  }
  await listen()
  const url = new URL(target)
  url.hostname = '127.0.0.1'
  url.port = String(own)
  return {
    url: url.href,
    shut,
    open: listen,
    [Symbol.asyncDispose]: shut,
  }
}
