import { api, type Schemas } from './client.ts'
import { answerQuery, dataQuery, offsetQuery } from './list.ts'

export type Scope = Schemas['Scope']
export type Refusal = Schemas['Refusal']

const PAGE = 200

export const scopesQuery = dataQuery(['scopes'], () => api.GET('/scopes'))

export const farmLimitsQuery = dataQuery(['limits'], () => api.GET('/limits'))

export const neverScanQuery = (search: string | undefined) =>
  offsetQuery(['never-scan', search], (offset) =>
    api.GET('/never-scan', { params: { query: { search, offset, limit: PAGE } } }),
  )

/** Targets of a job that a scope refused, or that mode delta left out. */
export const refusalsQuery = (jobId: string, list: 'refusals' | 'left-out') =>
  offsetQuery(['job', jobId, list], (offset) => {
    const params = { path: { job_id: jobId }, query: { offset, limit: PAGE } }
    return api.GET(`/jobs/{job_id}/${list}`, { params })
  })

export type TrafficSearch = Readonly<{ address: string; from?: string; to?: string }>

export const trafficQuery = (query: TrafficSearch) =>
  answerQuery(['traffic', query], () => api.GET('/traffic', { params: { query } }))
