import { createClient, type components } from '@scanfarm/client'

export { ApiError } from '@scanfarm/client'
export type Schemas = components['schemas']

/** The API of the master that served this page. The session cookie is the proof of identity. */
export const api = createClient()

/** The body of a successful answer: `const page = await answer(api.GET('/runs', {}))`. */
export const answer = async <T>(call: Promise<{ readonly data: T }>): Promise<T> => (await call).data
