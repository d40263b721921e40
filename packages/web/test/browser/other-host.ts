import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { until } from '@scanfarm/testing'

const PROVIDER = '/v2/'

/** A server on another site than the console. It records requests, and is a cloud provider that refuses all calls. */
export interface OtherHost extends AsyncDisposable {
  readonly url: string
  /** Paths that were requested, without those of the cloud provider. */
  readonly requests: readonly string[]
  /** Waits for a request with this path. */
  requested(path: string): Promise<void>
  /** What is sent for a path; default: a text. */
  readonly pages: Map<string, string>
}

/** `refusal` is the text with which the provider refuses calls. */
export const openOtherHost = async (refusal: string): Promise<OtherHost> => {
  const requests: string[] = []
  const pages = new Map<string, string>()
  const server = createServer(({ url = '/' }, response) => {
    if (url.startsWith(PROVIDER)) {
      response.writeHead(401, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ id: 'unauthorized', message: refusal }))
      return
    }
    requests.push(url)
    response.writeHead(200, { 'content-type': pages.has(url) ? 'text/html' : 'text/plain' })
    response.end(pages.get(url) ?? 'The other host')
  })
  // The console is at 127.0.0.1, which is another site than localhost.
  server.listen(0, 'localhost')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://localhost:${port}`,
    requests,
    pages,
    requested: async (path) => {
      await until(() => requests.includes(path), { what: `a request of ${path}` })
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
