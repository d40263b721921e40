import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** A TCP proxy to a port of this machine that can freeze its connections, like a host that vanishes. */
export interface TcpProxy extends AsyncDisposable {
  readonly port: number
  /** Number of open connections. */
  readonly connections: number
  freeze(): void
  /** Forwards new connections again; frozen ones stay frozen. */
  thaw(): void
  /** Closes the frozen connections: only now does the remote side notice. */
  closeFrozen(): void
  /** Forwards new connections again and closes the old ones. */
  repair(): void
}

export async function startTcpProxy(to: number): Promise<TcpProxy> {
  const pairs = new Set<readonly [Socket, Socket]>()
  const frozenPairs = new Set<readonly [Socket, Socket]>()
  const halt = (pair: readonly [Socket, Socket]): void => {
    const [near, far] = pair
    frozenPairs.add(pair)
    near.unpipe(far).pause()
    far.unpipe(near).pause()
  }
  const cut = (some: ReadonlySet<readonly [Socket, Socket]>): void => {
    for (const [near, far] of some) {
      near.destroy()
      far.destroy()
    }
  }
  let frozen = false
  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1')
    const pair = [near, far] as const
    pairs.add(pair)
    near.pipe(far)
    far.pipe(near)
    if (frozen) halt(pair)
    for (const socket of pair) {
      socket.on('error', () => {})
      socket.once('close', () => {
        for (const each of pair) each.destroy()
        pairs.delete(pair)
        frozenPairs.delete(pair)
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    get connections() {
      return pairs.size
    },
    freeze() {
      frozen = true
      for (const pair of pairs) halt(pair)
    },
    thaw() {
      frozen = false
    },
    closeFrozen: () => cut(frozenPairs),
    repair() {
      frozen = false
      cut(pairs)
    },
    async [Symbol.asyncDispose]() {
      for (const [near] of pairs) near.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
