import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { listen } from '@scanfarm/testing'

export interface Proxy extends AsyncDisposable {
  readonly port: number
  /** Closes all connections and accepts none until `mend`. */
  cut(): void
  mend(): void
}

/** A TCP proxy whose connections can be cut like a network failure. */
export async function startProxy(host: string, port: number): Promise<Proxy> {
  const sockets = new Set<Socket>()
  let isCut = false
  const server = createServer((client) => {
    if (isCut) return void client.destroy()
    const target = connect(port, host)
    for (const [one, other] of [
      [client, target],
      [target, client],
    ] as const) {
      sockets.add(one)
      one.pipe(other)
      one.on('error', () => undefined)
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
    }
  })
  return {
    port: await listen(server),
    cut() {
      isCut = true
      for (const socket of sockets) socket.destroy()
    },
    mend() {
      isCut = false
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
