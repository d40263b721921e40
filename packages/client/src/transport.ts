import createCore, { createFinalURL, createQuerySerializer, defaultPathSerializer } from 'openapi-fetch'
import { ApiError, failureText, refusalOf } from './api-error.ts'
import type { CallOptions } from './calls.ts'
import { retrying, type RetryOptions } from './retry.ts'
import type { paths } from './schema.ts'

export interface ClientOptions {
  /** For example `http://127.0.0.1:8002`; default in a browser: the server of the page. */
  readonly url?: string
  /** An API token, or the token of `POST /login`. A page of the server needs none: its session is a cookie. */
  readonly token?: string
  /** Default: `fetch` of the platform. */
  readonly fetch?: (request: Request) => Promise<Response>
  /** Sends each `GET` that has only parameters, if it can: `fetch` loads slowly. Undefined: `fetch` sends it. */
  readonly get?: (
    url: string,
    init: { readonly headers: Readonly<Record<string, string>>; readonly signal: AbortSignal },
  ) => Promise<TextAnswer | undefined>
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>
  /** How long and how often requests that can be repeated are repeated; `false`: never. */
  readonly retry?: RetryOptions | false
  /** Time limit of each attempt in milliseconds; default one minute, `Infinity` for none. */
  readonly timeoutMs?: number
}

export interface TextAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

/** What a call of any path needs. The public calls are typed by path. */
export interface RawInit extends CallOptions {
  readonly params?: {
    readonly path?: Readonly<Record<string, unknown>>
    readonly query?: Readonly<Record<string, unknown>>
    readonly header?: Readonly<Record<string, unknown>>
  }
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly parseAs?: 'json' | 'text' | 'blob' | 'arrayBuffer' | 'stream'
  readonly signal?: AbortSignal | null
}

export interface RawAnswer {
  readonly data: unknown
  readonly response: Response
}

export interface Transport {
  readonly url: string
  call(method: string, path: string, init?: RawInit): Promise<RawAnswer>
}

/** The typed calls of openapi-fetch without their types. */
type Send = (
  method: string,
  path: string,
  init: object,
) => Promise<{ data?: unknown; error?: unknown; response: Response }>

const answerOf = ({ status, headers, text }: TextAnswer, url: string) => {
  const ok = status >= 200 && status < 300
  return {
    ok,
    data: ok ? (JSON.parse(text) as unknown) : undefined,
    error: ok ? undefined : errorIn(text),
    get response() {
      return Object.defineProperty(new Response(text, { status, headers }), 'url', { value: url })
    },
  }
}

const errorIn = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

const ANSWER_MS = 60_000
/** A signal with a longer timer would fire at once. */
const MOST_MS = 2 ** 31 - 1

const page = (): { href: string; origin: string } | undefined =>
  (globalThis as { location?: { href: string; origin: string } }).location

/** Without a slash at the end. Throws a TypeError: it is a mistake in the program. */
const rootOf = (url: string | undefined): string => {
  const here = page()
  const text = url ?? here?.origin ?? ''
  const root = URL.canParse(text, here?.href) ? new URL(text, here?.href) : undefined
  if (root === undefined || !/^https?:$/.test(root.protocol))
    throw new TypeError(
      `${JSON.stringify(text)} is not the address of a server: pass url as http://HOST:PORT`,
    )
  return (root.origin + root.pathname).replace(/\/+$/, '')
}

/** A page of the server has a session cookie; this header shows that the request comes from a script of the page. */
const identity = (root: string, token: string | undefined): Record<string, string> => {
  if (token !== undefined && token !== '') return { authorization: `Bearer ${token}` }
  return page()?.origin === new URL(root).origin ? { 'x-scanfarm-console': '1' } : {}
}

/** Not `crypto.randomUUID`: pages that are loaded over http from another machine do not have it. */
const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  )

const KEY = 'Idempotency-Key'

/** A new run has a key, so that it is started once even if its request is repeated. */
const withKey = (method: string, path: string, init: RawInit): RawInit => {
  if (method !== 'post' || path !== '/runs' || hasKey(init)) return init
  return { ...init, headers: { ...init.headers, [KEY]: newKey() } }
}

const hasKey = ({ headers, params }: RawInit): boolean =>
  [...Object.entries({ ...params?.header }), ...Object.entries({ ...headers })].some(
    ([name, value]) => name.toLowerCase() === KEY.toLowerCase() && value !== undefined,
  )

export const openTransport = (options: ClientOptions): Transport => {
  const { token, fetch, get, retry, timeoutMs, url } = options
  const root = rootOf(url)
  const headers = { ...identity(root, token), ...options.headers }
  let made: Send | undefined
  const core = (): Send =>
    createCore<paths>({
      baseUrl: `${root}/api`,
      credentials: 'same-origin',
      headers,
      ...(fetch === undefined ? {} : { fetch }),
    }).request as Send

  const sendGet = async (path: string, { params = {} }: RawInit, signal: AbortSignal) => {
    const place = { baseUrl: `${root}/api`, params, pathSerializer: defaultPathSerializer }
    const at = createFinalURL(path, { ...place, querySerializer: createQuerySerializer() })
    const answer = await get?.(at, { headers, signal })
    return answer && answerOf(answer, at)
  }

  const attempt = async (method: string, path: string, init: RawInit): Promise<RawAnswer> => {
    const { timeoutMs: own, retry: _, signal, ...rest } = init
    const limitMs = own ?? timeoutMs ?? ANSWER_MS
    const late = new AbortController()
    const timer = limitMs < MOST_MS ? setTimeout(() => late.abort(), limitMs) : undefined
    const both = signal ? AbortSignal.any([signal, late.signal]) : late.signal
    const place = { status: 0, method: method.toUpperCase(), url: `${root}/api${path}` }
    try {
      const isPlain = method === 'get' && Object.keys(rest).every((name) => name === 'params')
      const answer = isPlain ? await sendGet(path, rest, both) : undefined
      if (answer?.ok) return answer
      const { data, error, response } =
        answer ?? (await (made ??= core())(method, path, { ...rest, signal: both }))
      if (response.ok) return { data, response }
      throw refusalOf(place.method, response, error)
    } catch (error) {
      signal?.throwIfAborted()
      if (error instanceof ApiError) throw error
      if (late.signal.aborted)
        throw new ApiError({ ...place, code: 'timeout', message: `no answer within ${limitMs} ms` })
      if (error instanceof SyntaxError)
        throw new ApiError({
          ...place,
          code: 'invalid_answer',
          message: 'the answer is not JSON',
          cause: error,
        })
      throw new ApiError({ ...place, code: 'unreachable', message: failureText(error), cause: error })
    } finally {
      clearTimeout(timer)
    }
  }

  const call = async (method: string, path: string, given: RawInit = {}): Promise<RawAnswer> => {
    const init = withKey(method, path, given)
    const policy = init.retry ?? retry ?? {}
    init.signal?.throwIfAborted()
    if (policy === false || !(method === 'get' || hasKey(init))) return await attempt(method, path, init)
    return await retrying(() => attempt(method, path, init), policy, init.signal ?? undefined)
  }

  return { url: root, call }
}
