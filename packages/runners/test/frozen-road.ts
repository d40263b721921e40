import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** A TCP road to a port of this machine that can fall silent without breaking, like a host that vanishes. */
export interface Road extends AsyncDisposable {
  readonly port: number
  /** Connections that are under way. */
  readonly travellers: number
  freeze(): void
  /** New connections pass again; those that fell silent stay so. */
  thaw(): void
  /** Cuts the connections that fell silent: only now does the far side notice. */
  cutSilent(): void
  /** New connections pass again; the old ones are cut. */
  repair(): void
}

export async function buildRoad(to: number): Promise<Road> {
  const pairs = new Set<readonly [Socket, Socket]>()
  const silent = new Set<readonly [Socket, Socket]>()
  const halt = (pair: readonly [Socket, Socket]): void => {
    const [near, far] = pair
    silent.add(pair)
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
        silent.delete(pair)
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    get travellers() {
      return pairs.size
    },
    freeze() {
      frozen = true
      for (const pair of pairs) halt(pair)
    },
    thaw() {
      frozen = false
    },
    cutSilent: () => cut(silent),
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
