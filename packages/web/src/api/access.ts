import { queryOptions } from '@tanstack/react-query'
import type { paths } from '@scanfarm/client'
import { answer, api, type Schemas } from './client.ts'
import { listQuery } from './list.ts'

const PAGE = 100
const page = (cursor: string | undefined) => ({ params: { query: { cursor, limit: PAGE } } })

export const tokensQuery = listQuery(['tokens'], (cursor) => answer(api.GET('/tokens', page(cursor))))
export const usersQuery = listQuery(['users'], (cursor) => answer(api.GET('/users', page(cursor))))

export type AuditFilters = NonNullable<paths['/audit']['get']['parameters']['query']>

export const auditQuery = (filters: AuditFilters) =>
  listQuery(['audit', filters], (cursor) =>
    answer(api.GET('/audit', { params: { query: { ...filters, cursor, limit: PAGE } } })),
  )

export const sessionsQuery = queryOptions({
  queryKey: ['sessions'],
  queryFn: async () => (await answer(api.GET('/sessions'))).data,
})

type NewToken = paths['/tokens']['post']['requestBody']['content']['application/json']
type NewUser = paths['/users']['post']['requestBody']['content']['application/json']
type UserChange = paths['/users/{id}']['patch']['requestBody']['content']['application/json']

const byId = (id: number) => ({ params: { path: { id: String(id) } } })

export const createToken = (body: NewToken) => answer(api.POST('/tokens', { body }))
export const removeToken = ({ id }: Schemas['ApiToken']) => answer(api.DELETE('/tokens/{id}', byId(id)))
export const createUser = (body: NewUser) => answer(api.POST('/users', { body }))
export const changeUser = ({ id }: Schemas['User'], body: UserChange) =>
  answer(api.PATCH('/users/{id}', { ...byId(id), body }))
export const removeUser = ({ id }: Schemas['User']) => answer(api.DELETE('/users/{id}', byId(id)))
export const endSession = (id: string) => answer(api.DELETE('/sessions/{id}', { params: { path: { id } } }))
