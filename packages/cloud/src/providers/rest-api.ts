import { boundedText, compile } from '@scanfarm/contracts'
import { errorText } from '@scanfarm/platform'
import type { Static, TSchema } from 'typebox'
import { CloudError, type CloudProblem } from '../provider.ts'
import { callOnce, callWithRetry, type CallLimits } from './calls.ts'
import { ApiError, isNotFound, parsedJson, retryAfterMs, unreachable } from './errors.ts'

/** One call of an API. A provider has a table of them. */
export interface Call<S extends TSchema = TSchema> {
  /** For error messages: "list droplets". */
  readonly action: string
  /** POST creates something and is never repeated. */
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** `{id}` is replaced with the argument `id`. */
  readonly path: string
  /** The used fields of a response. */
  readonly answer: S
}

export interface Arguments {
  readonly path?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object
}

/** A response other than 2xx. */
export interface Failure {
  readonly status: number
  /** The provider's error code and message, or "". */
  readonly code: string
  readonly message: string
}

/** An HTTP API with JSON and bearer tokens. */
export interface RestApi {
  readonly provider: string
  /** Without the final slash. */
  readonly base: string
  /** What to do when the credentials are refused: "check linode in cloud.credentials". */
  readonly remedy: string
  readonly limits: CallLimits
  /** Rejects with a CloudError when there is none. */
  token(signal: AbortSignal): Promise<string>
  /** The code and the message in the body of a failure. */
  explain(body: unknown): Omit<Failure, 'status'>
  problemOf(failure: Failure): CloudProblem
}

export interface RestClient {
  /** Rejects with a CloudError or the signal's reason. Repeats calls other than POST after `unavailable`. */
  call<S extends TSchema>(call: Call<S>, given: Arguments, signal: AbortSignal): Promise<Static<S>>
  /** `call`, and undefined when the response is 404. */
  find<S extends TSchema>(
    call: Call<S>,
    given: Arguments,
    signal: AbortSignal,
  ): Promise<Static<S> | undefined>
}

/** Of a response. */
const MOST_BYTES = 16 * 1024 * 1024

export function restClient(api: RestApi): RestClient {
  const { provider, limits } = api
  const problemOf = (error: unknown): CloudError => unreachable(provider, error)

  const send = async <S extends TSchema>(
    call: Call<S>,
    { path = {}, query = {}, headers = {}, body }: Arguments,
    signal: AbortSignal,
  ): Promise<Static<S>> => {
    const place = call.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(path[name] ?? ''),
    )
    const search = new URLSearchParams(query).toString()
    const response = await fetch(`${api.base}${place}${search === '' ? '' : `?${search}`}`, {
      method: call.method,
      signal,
      redirect: 'error',
      headers: {
        ...headers,
        authorization: `Bearer ${await api.token(signal)}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const answer = parsedJson(await boundedText(response.body, MOST_BYTES))
    if (!response.ok) throw failed(call, response, answer)
    try {
      return compile(call.answer, { subject: 'response' })(answer)
    } catch (error) {
      throw new CloudError(
        'unavailable',
        `${provider} cannot ${call.action}: its response does not match its documentation: ${errorText(error)}`,
      )
    }
  }

  const failed = ({ action }: Call, { status, headers }: Response, body: unknown): ApiError => {
    const failure = { status, ...api.explain(body) }
    const problem = api.problemOf(failure)
    const message = [
      `${provider} cannot ${action}: it answers ${status}`,
      ...(failure.message === '' ? [] : [failure.message]),
    ].join(': ')
    const advice = problem === 'credentials' ? `; ${api.remedy}` : ''
    return new ApiError(
      problem,
      `${message}${advice}`,
      status,
      retryAfterMs((name) => headers.get(name)),
    )
  }

  const call: RestClient['call'] = (each, given, signal) =>
    (each.method === 'POST' ? callOnce : callWithRetry)((limited) => send(each, given, limited), {
      ...limits,
      signal,
      problemOf,
    })

  return {
    call,
    async find(each, given, signal) {
      try {
        return await call(each, given, signal)
      } catch (error) {
        if (isNotFound(error)) return undefined
        throw error
      }
    },
  }
}

/** The endpoint without the API version, which operators often copy from the provider's documentation. */
export const apiRoot = (endpoint: string): string => endpoint.replace(/\/+(v\d+(beta)?\/*)?$/, '')
