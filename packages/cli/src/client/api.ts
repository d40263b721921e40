import {
  ApiError,
  createClient,
  type Client,
  type FieldError,
  type ItemOf,
  type ListInit,
  type ListPath,
  type paths,
  type RetryOptions,
} from '@scanfarm/client'
import { CliError, EXIT } from '../exit.ts'
import { get } from './get.ts'

export interface ApiOptions {
  /** For example `http://127.0.0.1:8002`. */
  readonly url: string
  readonly token: string | undefined
}

/** The query parameters of a `GET`. */
export type QueryOf<P extends keyof paths> = paths[P] extends {
  get: { parameters: { query?: infer Query } }
}
  ? NonNullable<Query>
  : never

/** The JSON body of a request. */
export type BodyOf<P extends keyof paths, Method extends 'post' | 'patch' = 'post'> =
  paths[P] extends Record<Method, { requestBody?: { content: { 'application/json': infer Body } } }>
    ? Body
    : never

/** A call with a body that is no JSON. Commands name the type of the answer. */
type Send = (path: string, init: object) => Promise<{ data: unknown }>

const HINTS: Readonly<Record<number, string>> = {
  401: 'set SCANFARM_TOKEN (or SCANFARM_TOKEN_FILE) to a token of this server',
  403: 'this token does not have the required role: use a token with a higher role',
}

/** Long enough for a restart of the server. */
export const PATIENT: RetryOptions = { withinMs: 120_000, firstMs: 1_000, mostMs: 1_000 }

/** Whether the message already includes this field error: it includes the first one. */
const includesFieldError = (message: string, { path, message: what }: FieldError, count: number): boolean =>
  message.includes(`${path.slice(1)}: ${what}`) ||
  (count === 1 && (message.includes(what) || message.startsWith(`${path.slice(1)}: `)))

/** The error for the user, with what to do. */
const explained = ({ status, message, details, requestId, url }: ApiError): CliError => {
  const lines = details
    .filter((detail) => !includesFieldError(message, detail, details.length))
    .map(({ path, message: what }) => `  ${path || '/'}: ${what}`)
  const hint = HINTS[status]
  const about = `${url} answered ${status}${requestId ? ` (request ${requestId})` : ''}`
  return new CliError(
    status >= 500 || status === 429 ? EXIT.unreachable : EXIT.refused,
    [message, ...lines, ...(hint ? [`  ${hint}`] : []), `  ${about}`].join('\n'),
  )
}

/** The API of a server. Every call rejects with a `CliError` that tells the user what to do. */
export class Api {
  readonly #client: Client

  constructor({ url, token }: ApiOptions) {
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
      throw new CliError(
        EXIT.usage,
        `${JSON.stringify(url)} is not the address of a server: write --url (SCANFARM_URL) as http://HOST:PORT`,
      )
    this.#client = createClient({ url, token, get, retry: false })
  }

  /** What a call returns, for example `({ GET }) => GET('/workers')`. */
  async call<T>(work: (client: Client) => Promise<{ readonly data: T }>): Promise<T> {
    return (await this.with(work)).data
  }

  /** A list that the server sends in parts when it is very large. */
  async all<P extends ListPath>(path: P, init: ListInit<P>): Promise<{ data: ItemOf<P>[] }> {
    return await this.with(async ({ list }) => ({ data: await Array.fromAsync(list(path, init)) }))
  }

  /** Sends the content as the multipart field `file`. There is no time limit, because the time depends on the size. */
  async upload<T>(path: string, name: string, content: Blob): Promise<T> {
    const { fileForm } = await import('./send-file.ts')
    const init = { ...fileForm(name, content), timeoutMs: Infinity }
    return (await this.with(({ POST }) => (POST as Send)(path, init))).data as T
  }

  /** Work with the client itself. */
  async with<T>(work: (client: Client) => Promise<T>): Promise<T> {
    try {
      return await work(this.#client)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      if (error.status > 0) throw explained(error)
      throw new CliError(
        EXIT.unreachable,
        `no server answers at ${this.#client.url}: ${error.message}; start one with \`scanfarm server\`, or set SCANFARM_URL`,
      )
    }
  }
}
