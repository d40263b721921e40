import { answer, api, byId, type BodyOf, type Schemas, type SearchOf } from './client.ts'
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

export const createToken = (body: BodyOf<'/tokens', 'post'>) => answer(api.POST('/tokens', { body }))
export const removeToken = ({ id }: Schemas['ApiToken']) => answer(api.DELETE('/tokens/{id}', byId(id)))
export const createUser = (body: BodyOf<'/users', 'post'>) => answer(api.POST('/users', { body }))
export const changeUser = ({ id }: Schemas['User'], body: BodyOf<'/users/{id}', 'patch'>) =>
  answer(api.PATCH('/users/{id}', { ...byId(id), body }))
export const removeUser = ({ id }: Schemas['User']) => answer(api.DELETE('/users/{id}', byId(id)))
export const endSession = (id: string) => answer(api.DELETE('/sessions/{id}', byId(id)))
