import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import {
  request as httpRequest,
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http'
import { request as httpsRequest } from 'node:https'
import { Readable } from 'node:stream'

/** A call whose body is a form with the content as its field `file`, read while it is sent. */
export const fileForm = (name: string, content: Blob): object => {
  const boundary = `scanfarm-${randomUUID()}`
  const filename = name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
  const start =
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${filename}"\r\n` +
    'Content-Type: application/octet-stream\r\n\r\n'
  const end = `\r\n--${boundary}--\r\n`
  const parts = async function* (): AsyncGenerator<Uint8Array<ArrayBuffer> | string> {
    yield start
    yield* content.stream()
    yield end
  }
  return {
    fetch: (request: Request) => followed(request, parts),
    headers: {
      'Content-Type': `multipart/form-data; boundary=${boundary}`,
      'Content-Length': String(Buffer.byteLength(start) + content.size + Buffer.byteLength(end)),
    },
  }
}

/** Each array is for one use. */
type Body = () => AsyncIterable<Uint8Array<ArrayBuffer> | string>

const MAX_REDIRECTS = 5
/** Redirects that keep the method and the body. */
const KEPT: ReadonlySet<number> = new Set([307, 308])

/** Follows redirects as `fetch` does: another origin does not get the token. */
const followed = async ({ url, method, headers, signal }: Request, body: Body): Promise<Response> => {
  const named = new Headers(headers)
  let at = new URL(url)
  for (let left = MAX_REDIRECTS; ; left -= 1) {
    const response = await sendStream(at, { method, headers: Object.fromEntries(named), signal }, body)
    const location = response.headers.get('location')
    if (!KEPT.has(response.status) || location === null || left === 0) return response
    await response.body?.cancel()
    const next = new URL(location, at)
    if (next.origin !== at.origin) named.delete('authorization')
    at = next
  }
}

/** Like `fetch`, which reads a body faster than it sends it, so that a large file would be held in memory. */
const sendStream = async (url: URL, options: RequestOptions, body: Body): Promise<Response> => {
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest
  const outgoing = send(url, options)
  const answer = once(outgoing, 'response') as Promise<[IncomingMessage]>
  const [given] = await Promise.race([answer, written(body, outgoing, answer).then(() => answer)])
  const { statusCode: status = 0, statusMessage: statusText = '', headers: named } = given
  const pairs = Object.entries(named).map(([name, value]) => [name, String(value)] as [string, string])
  return new Response(Readable.toWeb(given), { status, statusText, headers: pairs })
}

/** Stops when the server answers: one that refuses a request does not read all of it. */
const written = async (body: Body, outgoing: ClientRequest, answer: Promise<unknown>): Promise<void> => {
  const answered = new AbortController()
  answer.then(
    () => answered.abort(),
    () => undefined,
  )
  const { signal } = answered
  for await (const chunk of body()) {
    if (!outgoing.write(chunk, () => free(chunk))) await isDrained(outgoing, signal)
    if (signal.aborted) return
  }
  outgoing.end()
}

/** Without it, memory grows by what has been sent since the last garbage collection. */
const free = (chunk: Uint8Array<ArrayBuffer> | string): void => {
  if (typeof chunk !== 'string') chunk.buffer.transfer(0)
}

/** Not a race with the answer: its promise would keep what each race waits for. */
const isDrained = async (outgoing: ClientRequest, answered: AbortSignal): Promise<void> => {
  try {
    await once(outgoing, 'drain', { signal: answered })
  } catch (error) {
    if (!answered.aborted) throw error
  }
}
