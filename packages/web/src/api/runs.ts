import { queryOptions } from '@tanstack/react-query'
import type { paths } from '@scanfarm/client'
import { answer, api } from './client.ts'
import { listQuery } from './list.ts'

export type RunFilters = NonNullable<paths['/runs']['get']['parameters']['query']>

const PAGE = 100

export const runsQuery = (filters: RunFilters) =>
  listQuery(['runs', filters], (cursor) =>
    answer(api.GET('/runs', { params: { query: { ...filters, cursor, limit: PAGE } } })),
  )

const pathOf = (id: string) => ({ params: { path: { id } } })

export const runQuery = (id: string) =>
  queryOptions({
    queryKey: ['run', id],
    queryFn: async () => (await answer(api.GET('/runs/{id}', pathOf(id)))).data,
  })

export const stepsQuery = (id: string) =>
  queryOptions({
    queryKey: ['run', id, 'steps'],
    queryFn: async () => (await answer(api.GET('/runs/{id}/steps', pathOf(id)))).data,
  })

export const artifactsQuery = (id: string) =>
  queryOptions({
    queryKey: ['run', id, 'artifacts'],
    queryFn: async () => (await answer(api.GET('/runs/{id}/artifacts', pathOf(id)))).data,
  })

export const runEventsQuery = (uuid: string) =>
  listQuery(['run', uuid, 'events'], (cursor) =>
    answer(api.GET('/event-logs', { params: { query: { run_id: uuid, cursor, limit: PAGE } } })),
  )

export const cancelRun = (id: string) => answer(api.DELETE('/runs/{id}', pathOf(id)))
export const duplicateRun = (id: string) => answer(api.POST('/runs/{id}/duplicate', pathOf(id)))
export const startRun = (id: string) => answer(api.POST('/runs/{id}/start', pathOf(id)))
