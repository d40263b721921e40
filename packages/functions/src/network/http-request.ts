import type { IncomingHttpHeaders } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { backoffMs } from '@scanfarm/contracts'
import { messageOf } from '@scanfarm/language'
import { isPublic } from './public-address.ts'
import { readBody, RefusedAddress, sendRequest } from './send-request.ts'

export interface HttpAnswer {
  /** 0 if there was no response. */
  readonly status: number
  /** Header names in lower case. */
  readonly headers: Record<string, string>
  readonly body: string
  readonly timeMs: number
  /** Why there is no response, or `""`. */
  readonly error: string
}

/** Maximum number of bytes of a body that are read; the rest is ignored. */
const MAX_BODY = 10 << 20
const TRIES = 3
const MAX_REDIRECTS = 10
const REDIRECTS = new Set([301, 302, 303, 307, 308])
const FIRST_PAUSE_MS = 200
const MAX_PAUSE_MS = 2000

const causeOf = (error: unknown): string => {
  const cause = typeof error === 'object' && error !== null && 'cause' in error ? error.cause : undefined
  return cause === undefined ? messageOf(error) : `${messageOf(error)}: ${messageOf(cause)}`
}

export interface HttpQuestion {
  readonly url: string
  readonly method: string
  readonly headers: Record<string, string>
  readonly body: string
  /** Per attempt. */
  readonly timeoutMs: number
}

export interface HttpPorts {
  readonly signal: AbortSignal
  readonly now: () => number
  /** Follow redirects of public servers to private addresses: `http.allow_private`. */
  readonly allowPrivate?: boolean | undefined
  /** The reason why this URL must not be requested. */
  readonly permit?: ((url: string, place: 'request' | 'redirect') => Promise<string | undefined>) | undefined
  /** For tests, which have no public addresses. */
  readonly isPublic?: (address: string) => boolean
}

/** Sends a request and retries after a pause on network and server errors. Never rejects. */
export const httpRequest = async (question: HttpQuestion, ports: HttpPorts): Promise<HttpAnswer> => {
  const { signal, now } = ports
  const from = now()
  const failed = (error: string): HttpAnswer => ({
    status: 0,
    headers: {},
    body: '',
    timeMs: Math.round(now() - from),
    error,
  })
  const { url } = question
  let answer = failed('not a URL of http or https')
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return answer
  for (let attempt = 1; attempt <= TRIES && !signal.aborted; attempt++) {
    if (attempt > 1) {
      const wait = backoffMs(attempt - 1, { firstMs: FIRST_PAUSE_MS, mostMs: MAX_PAUSE_MS })
      await pause(wait, undefined, { signal }).catch(() => undefined)
      if (signal.aborted) break
    }
    try {
      answer = { ...(await followed(question, ports)), timeMs: Math.round(now() - from), error: '' }
      if (answer.status < 500) return answer
    } catch (error) {
      answer = failed(causeOf(error))
      if (error instanceof RefusedUrl || error instanceof RefusedAddress) return answer
    }
  }
  return answer
}

/** A URL that is not requested. Another try would be refused as well. */
class RefusedUrl extends Error {}

/** One attempt: the answer after all redirects. */
const followed = async (
  { url, method, headers, body, timeoutMs }: HttpQuestion,
  { signal, allowPrivate = false, permit, isPublic: isPublicAddress = isPublic }: HttpPorts,
): Promise<Pick<HttpAnswer, 'status' | 'headers' | 'body'>> => {
  const until = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
  const hasNoBody = method === 'GET' || method === 'HEAD'
  let hop: Hop = { url: new URL(url), method, headers, body: hasNoBody ? '' : body }
  let wasPublic = false
  for (let redirects = 0; ; redirects++) {
    const refusal = await permit?.(hop.url.href, redirects === 0 ? 'request' : 'redirect')
    if (refusal !== undefined)
      throw new RefusedUrl(`${redirects === 0 ? '' : 'a redirect to '}${hop.url.host}: ${refusal}`)
    const refuse = (address: string): string | undefined =>
      isPublicAddress(address)
        ? undefined
        : `the private address ${address}: a public server redirected to it, which http.allow_private permits`
    const response = await sendRequest(hop.url, {
      ...hop,
      headers:
        hop.body === '' ? hop.headers : { 'content-type': 'text/plain;charset=UTF-8', ...named(hop.headers) },
      signal: until,
      refuse: wasPublic && !allowPrivate ? refuse : undefined,
    })
    wasPublic ||= isPublicAddress(response.socket.remoteAddress ?? '')
    const { statusCode: status = 0 } = response
    const location = REDIRECTS.has(status) ? response.headers.location : undefined
    if (location === undefined)
      return { status, headers: textsOf(response.headers), body: await readBody(response, MAX_BODY) }
    response.destroy()
    if (redirects === MAX_REDIRECTS) throw new RefusedUrl(`more than ${MAX_REDIRECTS} redirects`)
    hop = nextHop(hop, status, location)
  }
}

interface Hop {
  readonly url: URL
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Headers of the workflow may hold secrets for the server that it names: another origin gets none of them. */
const nextHop = ({ url, method, headers, body }: Hop, status: number, location: string): Hop => {
  const next = URL.parse(location, url.href)
  if (next === null || !/^https?:$/.test(next.protocol))
    throw new RefusedUrl(`a redirect to ${JSON.stringify(location)}, which is not a URL of http or https`)
  const isSame = next.origin === url.origin
  const becomesGet =
    status === 303 ? method !== 'GET' && method !== 'HEAD' : method === 'POST' && status <= 302
  return {
    url: next,
    method: becomesGet ? 'GET' : method,
    headers: isSame ? (becomesGet ? withoutContent(headers) : headers) : {},
    body: becomesGet ? '' : body,
  }
}

const named = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

const withoutContent = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(named(headers)).filter(([name]) => !name.startsWith('content-')))

const textsOf = (headers: IncomingHttpHeaders): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  )
