import { createClient, type components, type paths } from '@scanfarm/client'

export { ApiError } from '@scanfarm/client'
export type Schemas = components['schemas']

type Operation<P extends keyof paths, M extends 'get' | 'post' | 'put' | 'patch'> = NonNullable<paths[P][M]>
/** The search parameters of a route. */
export type SearchOf<P extends keyof paths, M extends 'get' | 'post' = 'get'> =
  Operation<P, M> extends { parameters: { query?: infer Q } } ? NonNullable<Q> : never
/** The JSON that a route takes. */
export type BodyOf<P extends keyof paths, M extends 'post' | 'patch'> =
  Operation<P, M> extends { requestBody?: infer B }
    ? NonNullable<B> extends { content: { 'application/json': infer T } }
      ? T
      : never
    : never

/** The API of the master that served this page. The session cookie is the proof of identity. */
export const api = createClient()

/** The body of a successful answer: `const page = await answer(api.GET('/runs', {}))`. */
export const answer = async <T>(call: Promise<{ readonly data: T }>): Promise<T> => (await call).data

/** What such a body has below `data`. */
export const dataOf = async <T>(call: Promise<{ readonly data: { readonly data: T } }>): Promise<T> =>
  (await call).data.data

/** The path of a route with an id. */
export const byId = (id: string | number) => ({ params: { path: { id: String(id) } } })
export const byName = (name: string) => ({ params: { path: { name } } })
