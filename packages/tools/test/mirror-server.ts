import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { listen } from '@scanfarm/testing'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

export interface MirrorServer extends AsyncDisposable {
  readonly url: string
  readonly requests: IncomingMessage[]
  answer: Answer
}

export const startMirror = async (answer: Answer): Promise<MirrorServer> => {
  const server = createServer((request, response) => {
    mirror.requests.push(request)
    mirror.answer(request, response)
  })
  const mirror: MirrorServer = {
    url: `http://127.0.0.1:${await listen(server)}`,
    requests: [],
    answer,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
  return mirror
}

/** Serves these files by their paths, with support for ranges. */
export const files =
  (content: Readonly<Record<string, Buffer>>): Answer =>
  (request, response) => {
    const bytes = content[request.url ?? '']
    if (bytes === undefined) return void response.writeHead(404).end()
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0)
    response.writeHead(from > 0 ? 206 : 200, {
      'content-length': bytes.length - from,
      ...(from > 0 ? { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` } : {}),
    })
    response.end(bytes.subarray(from))
  }
