import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { listen } from '@scanfarm/testing'
import type { Fault, Sort } from './conformance.ts'

/** A request with its parsed body. */
export interface Asked {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  readonly body: unknown
}

export interface Answer {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** Faults that are responses. */
export type AnsweredFault = Exclude<Fault, { kind: 'cut' | 'silent' }>

export interface Cloud {
  sortOf(asked: Asked): Sort
  /** Handles the request, including its credentials. */
  answer(asked: Asked): Answer
  failure(fault: AnsweredFault): Answer
  /** Deviations of request and response from the provider's API description. */
  violations(asked: Asked, answer: Answer): string[]
}

export interface FakeApi extends AsyncDisposable {
  readonly url: string
  violations(): readonly string[]
  fault(sort: Sort, fault: Fault): void
  /** The next call of this sort gets this response and has no effect. */
  answerNext(sort: Sort, answer: Answer): void
  creates(): number
}

interface Prepared {
  readonly kind: 'prepared'
  readonly answer: Answer
}

/** An HTTP server with the API of a cloud. */
export async function openFakeApi(cloud: Cloud): Promise<FakeApi> {
  const faults: Record<Sort, (Fault | Prepared)[]> = { read: [], create: [], destroy: [] }
  const violations: string[] = []
  let creates = 0

  const answerTo = (fault: Fault | Prepared | undefined, asked: Asked): Answer => {
    if (fault === undefined || fault.kind === 'cut' || fault.kind === 'silent') return cloud.answer(asked)
    return fault.kind === 'prepared' ? fault.answer : cloud.failure(fault)
  }
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://stand-in')
    const raw = await text(request)
    const asked: Asked = {
      method: request.method ?? '',
      path: pathname,
      query: searchParams,
      headers: request.headers,
      body: raw === '' ? undefined : JSON.parse(raw),
    }
    const sort = cloud.sortOf(asked)
    if (sort === 'create') creates++
    const fault = faults[sort].shift()
    const answer = answerTo(fault, asked)
    violations.push(...cloud.violations(asked, answer))
    if (fault?.kind === 'silent') return
    if (fault?.kind === 'cut') {
      request.socket.destroy()
      return
    }
    response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers })
    response.end(answer.body === undefined ? undefined : JSON.stringify(answer.body))
  }
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      violations.push(`the stand-in failed: ${String(error)}`)
      request.socket.destroy()
    })
  })
  const port = await listen(server)

  return {
    url: `http://127.0.0.1:${port}`,
    violations: () => violations,
    answerNext: (sort, answer) => void faults[sort].push({ kind: 'prepared', answer }),
    fault: (sort, fault) => void faults[sort].push(fault),
    creates: () => creates,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}
