import type { Answer, CallOptions, InitOf, PathOf } from './calls.ts'
import type { components } from './schema.ts'
import type { RawInit, Transport } from './transport.ts'

interface AnyPage {
  readonly data: readonly unknown[]
  readonly pagination?: components['schemas']['Pagination']
}

/** The paths that answer with `{ data: […] }`. */
export type ListPath = {
  [P in PathOf<'get'>]: Answer<P, 'get'> extends { data: { data: readonly unknown[] } } ? P : never
}[PathOf<'get'>]

export type PageOf<P extends ListPath> = Answer<P, 'get'>['data']
export type ItemOf<P extends ListPath> = PageOf<P> extends { data: readonly (infer T)[] } ? T : never
export type ListInit<P extends ListPath> = InitOf<P, 'get'> & CallOptions

/** Records of the pages after the first one, if the caller names no limit: the first page is small, so that it is fast. */
const NEXT_LIMIT = 500

/** The query of the page after this one; undefined after the last. */
const nextQuery = (
  { data, pagination }: AnyPage,
  query: Readonly<Record<string, unknown>>,
): Record<string, unknown> | undefined => {
  if (pagination === undefined || data.length === 0) return undefined
  const { next_cursor: cursor, total, offset, limit, truncated } = pagination
  const full = query['limit'] === undefined && truncated === undefined && data.length === limit
  const size = full ? { limit: NEXT_LIMIT } : {}
  if (cursor !== undefined) return { ...query, ...size, offset: undefined, cursor }
  const next = offset + data.length
  return query['cursor'] === undefined && next < total ? { ...query, ...size, offset: next } : undefined
}

/** The pages of a list, each requested when the previous one was used. */
export async function* pagesOf(
  transport: Transport,
  path: string,
  init: RawInit = {},
): AsyncGenerator<AnyPage> {
  let query: Readonly<Record<string, unknown>> | undefined = init.params?.query ?? {}
  while (query !== undefined) {
    const { data } = await transport.call('get', path, { ...init, params: { ...init.params, query } })
    const one = data as AnyPage
    yield one
    query = nextQuery(one, query)
  }
}
