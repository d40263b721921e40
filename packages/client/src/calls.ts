import type { ClientPathsWithMethod, Client as Core, FetchResponse, MaybeOptionalInit } from 'openapi-fetch'
import type { RetryOptions } from './retry.ts'
import type { paths } from './schema.ts'

type Media = `${string}/${string}`
export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'
export type PathOf<M extends Method> = ClientPathsWithMethod<Core<paths>, M>
export type InitOf<P extends keyof paths, M extends Method> = MaybeOptionalInit<paths[P], M>

/** Options of one call, next to those of `fetch` and of openapi-fetch (`params`, `body`, `parseAs`). */
export interface CallOptions {
  /** Time limit of each attempt in milliseconds; `Infinity` for none. With `parseAs: 'stream'`, until the answer begins. */
  readonly timeoutMs?: number
  /** `false`: one attempt. */
  readonly retry?: RetryOptions | false
}

type RequiredKeys<T> = { [K in keyof T]-?: object extends Pick<T, K> ? never : K }[keyof T]
type Arguments<Init> =
  RequiredKeys<Init> extends never ? [init?: Init & CallOptions] : [init: Init & CallOptions]

/** A successful answer. Every other answer is thrown as an `ApiError`. */
export type Answer<P extends keyof paths, M extends Method, Init = unknown> = M extends keyof paths[P]
  ? paths[P][M] extends Record<string | number, unknown>
    ? Omit<Extract<FetchResponse<paths[P][M], Init, Media>, { data: unknown }>, 'error'>
    : never
  : never

export type Call<M extends Method> = <P extends PathOf<M>, Init extends InitOf<P, M>>(
  path: P,
  ...init: Arguments<Init>
) => Promise<Answer<P, M, Init>>
