import { api, type SearchOf } from './client.ts'
import { dataQuery, listQuery } from './list.ts'

const page = (cursor: string | undefined) => ({ params: { query: { cursor, limit: 100 } } })

export const tokensQuery = listQuery(['tokens'], (cursor) => api.GET('/tokens', page(cursor)))
export const usersQuery = listQuery(['users'], (cursor) => api.GET('/users', page(cursor)))

export type AuditFilters = SearchOf<'/audit'>

export const auditQuery = (filters: AuditFilters) =>
  listQuery(['audit', filters], (cursor) =>
    api.GET('/audit', { params: { query: { ...filters, ...page(cursor).params.query } } }),
  )

export const sessionsQuery = dataQuery(['sessions'], () => api.GET('/sessions'))
