import { closed, page, Pagination } from '@scanfarm/contracts'
import type { PageOf, PageRequest } from '@scanfarm/store'
import { Type, type TProperties, type TSchema } from 'typebox'

const DEFAULT_LIMIT = 20
/** Higher limits are lowered to this instead of refused. */
export const MAX_LIMIT = 10_000

/** Query and answer of a list; `filters` are its other parameters. */
export const pages = <T extends TSchema, F extends TProperties>(item: T, filters: F) => ({
  query: closed({ ...filters, ...pageQuery }),
  responses: { 200: page(item) },
})

/** Query parameters of every list. */
export const pageQuery = {
  offset: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      default: 0,
      description: 'Records to skip',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      default: DEFAULT_LIMIT,
      description: `Maximum records to return; values above ${MAX_LIMIT} are lowered to ${MAX_LIMIT}`,
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 512,
      description: '`next_cursor` of the previous page; takes precedence over offset',
    }),
  ),
}

export interface PageQuery {
  readonly offset?: number
  readonly limit?: number
  readonly cursor?: string
}

export const pageRequest = ({ offset = 0, limit = DEFAULT_LIMIT, cursor }: PageQuery): PageRequest => ({
  offset,
  limit: Math.min(limit, MAX_LIMIT),
  ...(cursor === undefined ? {} : { cursor }),
})

export const isPage = (result: unknown): result is PageOf<unknown> =>
  typeof result === 'object' && result !== null && 'nextCursor' in result && 'truncated' in result

/** The answer for a page of the store; further fields stay. */
export const pageBody = <T, P extends PageOf<T>>(
  { data, total, nextCursor, truncated, ...more }: P & PageOf<T>,
  { offset, limit }: Pick<PageRequest, 'offset' | 'limit'>,
) => ({
  ...more,
  data,
  pagination: {
    total,
    offset,
    limit,
    ...(nextCursor === undefined ? {} : { next_cursor: nextCursor }),
    ...(truncated ? { truncated: true as const } : {}),
  },
})

/** A list without a limit; it has a cursor only if its size limit ended it early. */
export const partBody = <T>(part: PageOf<T>, cursor?: string): { data: T[]; pagination?: Pagination } => {
  const { data, pagination } = pageBody(part, { offset: 0, limit: part.data.length })
  return part.truncated || cursor !== undefined ? { data, pagination } : { data }
}

const PaginationOfPart = Type.Object(Pagination.properties, {
  $id: 'PaginationOfPart',
  description: 'Only if the list is too large for one answer: pass next_cursor as cursor',
})

/** Query parameters and response of such a list. */
export const partQuery = closed({ cursor: pageQuery.cursor })
export const part = <T extends TSchema>(item: T) =>
  Type.Object({ data: Type.Array(item), pagination: Type.Optional(PaginationOfPart) })
