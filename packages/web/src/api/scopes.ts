import { queryOptions } from '@tanstack/react-query'
import type { paths } from '@scanfarm/client'
import { answer, api, type Schemas } from './client.ts'
import { offsetQuery } from './list.ts'

export type Scope = Schemas['Scope']
export type Refusal = Schemas['Refusal']
type ScopeChange = paths['/scopes/{name}']['patch']['requestBody']['content']['application/json']
type NewScope = paths['/scopes']['post']['requestBody']['content']['application/json']
type NewEntry = paths['/never-scan']['post']['requestBody']['content']['application/json']
type EntriesFile = paths['/never-scan/import']['post']['requestBody']['content']['application/json']

const PAGE = 200

export const scopesQuery = queryOptions({
  queryKey: ['scopes'],
  queryFn: async () => (await answer(api.GET('/scopes'))).data,
})

const named = (name: string) => ({ params: { path: { name } } })

export const createScope = (body: NewScope) => answer(api.POST('/scopes', { body }))
export const changeScope = (name: string, body: ScopeChange) =>
  answer(api.PATCH('/scopes/{name}', { ...named(name), body }))
export const removeScope = (name: string) => answer(api.DELETE('/scopes/{name}', named(name)))

export const farmLimitsQuery = queryOptions({
  queryKey: ['limits'],
  queryFn: async () => (await answer(api.GET('/limits'))).data,
})
export const setFarmLimits = (body: Schemas['Limits']) => answer(api.PUT('/limits', { body }))

export const neverScanQuery = (search: string | undefined) =>
  offsetQuery(['never-scan', search], (offset) =>
    answer(api.GET('/never-scan', { params: { query: { search, offset, limit: PAGE } } })),
  )

export const addNeverScan = (body: NewEntry) => answer(api.POST('/never-scan', { body }))
export const importNeverScan = (body: EntriesFile) => answer(api.POST('/never-scan/import', { body }))
export const removeNeverScan = (id: number) =>
  answer(api.DELETE('/never-scan/{id}', { params: { path: { id: String(id) } } }))

/** Targets of a job that a scope refused, or that mode delta left out. */
export const refusalsQuery = (jobId: string, list: 'refusals' | 'left-out') =>
  offsetQuery(['job', jobId, list], (offset) =>
    answer(
      api.GET(`/jobs/{job_id}/${list}`, {
        params: { path: { job_id: jobId }, query: { offset, limit: PAGE } },
      }),
    ),
  )

export type TrafficSearch = Readonly<{ address: string; from?: string; to?: string }>

export const trafficQuery = (query: TrafficSearch) =>
  queryOptions({
    queryKey: ['traffic', query],
    queryFn: () => answer(api.GET('/traffic', { params: { query } })),
  })
