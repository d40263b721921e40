import type { ErrorBody, FieldError } from '@scanfarm/contracts'
import { errorText, retry } from '@scanfarm/platform'
import { CliError, EXIT } from '../exit.ts'

export interface ApiOptions {
  /** For example `http://127.0.0.1:8002`. */
  readonly url: string
  readonly token: string | undefined
}

type Query = Readonly<Record<string, string | number | boolean | undefined>>

const ANSWER_MS = 60_000
const UNAVAILABLE = new Set([429, 502, 503, 504])
const HINTS: Readonly<Record<number, string>> = {
  401: 'set SCANFARM_TOKEN (or SCANFARM_TOKEN_FILE) to a token of this server',
  403: 'this token does not have the required role: use a token with a higher role',
}

const withQuery = (path: string, query: Query): string => {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value))
  return search.size === 0 ? path : `${path}?${search.toString()}`
}

const readBody = async (answer: Response): Promise<Partial<ErrorBody>> => {
  const text = await answer.text()
  try {
    return JSON.parse(text) as Partial<ErrorBody>
  } catch {
    return { message: text.slice(0, 500) }
  }
}

/** Whether the message already includes this field error: it includes the first one. */
const includesFieldError = (message: string, { path, message: what }: FieldError, count: number): boolean =>
  message.includes(`${path.slice(1)}: ${what}`) ||
  (count === 1 && (message.includes(what) || message.startsWith(`${path.slice(1)}: `)))

const refusal = async (answer: Response, url: string): Promise<CliError> => {
  const { message = answer.statusText, details = [], request_id: requestId } = await readBody(answer)
  const lines = details
    .filter((detail) => !includesFieldError(message, detail, details.length))
    .map(({ path, message: what }) => `  ${path || '/'}: ${what}`)
  const hint = HINTS[answer.status]
  const about = `${url} answered ${answer.status}${requestId ? ` (request ${requestId})` : ''}`
  const broken = answer.status >= 500 || UNAVAILABLE.has(answer.status)
  return new CliError(
    broken ? EXIT.unreachable : EXIT.refused,
    [message, ...lines, ...(hint ? [`  ${hint}`] : []), `  ${about}`].join('\n'),
  )
}

/** The API of a server. Every call rejects with a `CliError` that tells the user what to do. */
export class Api {
  readonly url: string
  readonly #token: string | undefined

  constructor({ url, token }: ApiOptions) {
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
      throw new CliError(
        EXIT.usage,
        `${JSON.stringify(url)} is not the address of a server: write --url (SCANFARM_URL) as http://HOST:PORT`,
      )
    this.url = url.replace(/\/+$/, '')
    this.#token = token
  }

  async get<T>(path: string, query: Query = {}): Promise<T> {
    return (await (await this.send(withQuery(path, query))).json()) as T
  }

  async post<T>(path: string, body?: unknown): Promise<T> {
    const init =
      body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
    return (await (await this.send(path, { method: 'POST', ...init })).json()) as T
  }

  async remove<T>(path: string): Promise<T> {
    return (await (await this.send(path, { method: 'DELETE' })).json()) as T
  }

  /** Sends the content as the multipart field `file`. There is no time limit, because the time depends on the size. */
  async upload<T>(path: string, name: string, content: Blob): Promise<T> {
    const body = new FormData()
    body.append('file', content, name)
    return (await (await this.send(path, { method: 'POST', body, signal: null })).json()) as T
  }

  /** `path` is below the API root. */
  async send(path: string, init: RequestInit = {}): Promise<Response> {
    const url = `${this.url}/api${path}`
    const headers = { ...init.headers, ...(this.#token ? { authorization: `Bearer ${this.#token}` } : {}) }
    let answer: Response
    try {
      answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS), ...init, headers })
    } catch (error) {
      throw new CliError(
        EXIT.unreachable,
        `no server answers at ${this.url}: ${errorText(error)}; start one with \`scanfarm server\`, or set SCANFARM_URL`,
      )
    }
    if (!answer.ok) throw await refusal(answer, url)
    return answer
  }
}

const RETRY_BACKOFF = { firstMs: 1_000, mostMs: 1_000 }
/** Long enough for a restart of the server. */
const RETRY_MS = 120_000

/** Repeats a request while the server cannot be reached, for two minutes. */
export const retryUnreachable = <T>(request: () => Promise<T>): Promise<T> => {
  const until = performance.now() + RETRY_MS
  return retry(request, {
    backoff: RETRY_BACKOFF,
    shouldRetry: (error) =>
      error instanceof CliError && error.exitCode === EXIT.unreachable && performance.now() <= until,
  })
}
