import { once } from 'node:events'
import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { startMoto } from '@scanfarm/testing'

const BUCKET = 'farm'

export interface DistantStore extends AsyncDisposable {
  /** Settings of a farm that stores its artifacts here. */
  readonly env: Readonly<Record<string, string>>
  /** Requests of a method to objects whose keys contain this text. */
  count(method: string, key: string): number
  /** The objects whose keys contain this text. */
  keys(part: string): Promise<string[]>
}

/** An S3 server that answers as late as one in a data centre: every request waits first. */
export const startDistantStore = async (delayMs: number): Promise<DistantStore> => {
  await using scope = new AsyncDisposableStack()
  const moto = scope.use(await startMoto())
  const agent = scope.adopt(new Agent({ keepAlive: true }), (open) => open.destroy())
  const seen: string[] = []
  const forward = async (asked: IncomingMessage, answer: ServerResponse): Promise<void> => {
    const { method = '', url = '', headers } = asked
    seen.push(`${method} ${url}`)
    await sleep(delayMs)
    const passed = request(moto.endpoint + url, { method, headers, agent })
    asked.pipe(passed)
    const [given] = (await once(passed, 'response')) as [IncomingMessage]
    answer.writeHead(given.statusCode ?? 502, given.headers)
    given.pipe(answer)
  }
  const server = createServer((asked, answer) => {
    forward(asked, answer).catch(() => answer.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  scope.defer(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  await fetch(`${moto.endpoint}/${BUCKET}`, { method: 'PUT' })
  const opened = scope.move()
  return {
    env: {
      SCANFARM_ARTIFACTS_S3: `s3://test:secret-of-test@${BUCKET}?endpoint=http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    },
    count: (method, key) => seen.filter((line) => line.startsWith(`${method} `) && line.includes(key)).length,
    async keys(part) {
      const list = await (await fetch(`${moto.endpoint}/${BUCKET}?list-type=2`)).text()
      const keys = [...list.matchAll(/<Key>([^<]+)</g)].map(([, key = '']) => key)
      return keys.filter((key) => key.includes(part))
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}
