import { infiniteQueryOptions } from '@tanstack/react-query'
import { answer, api, type Schemas } from './client.ts'
import { dataQuery, keepBefore } from './list.ts'

export type Night = Schemas['Night']
export type ChangedFinding = Schemas['ChangedFinding']

export const NIGHT_CHANGES = ['new', 'back', 'gone', 'not_tested'] as const
export type NightChange = (typeof NIGHT_CHANGES)[number]

const PAGE = 20
const REFRESH_MS = 30_000

/** The schedules with their last jobs. */
export const nightsQuery = infiniteQueryOptions({
  queryKey: ['nights'],
  queryFn: ({ pageParam: offset }) =>
    answer(api.GET('/nights', { params: { query: { offset, limit: PAGE } } })),
  initialPageParam: 0,
  getNextPageParam: ({ data, pagination }) => {
    const next = pagination.offset + data.length
    return data.length > 0 && next < pagination.total ? next : undefined
  },
  refetchInterval: REFRESH_MS,
})

/** The findings that a job changed. */
export const jobChangesQuery = (job: string, since: string | undefined) => {
  const params = { path: { job_id: job }, query: { since, limit: 1_000 } }
  const read = () => api.GET('/jobs/{job_id}/changes', { params })
  return { ...dataQuery(['nights', 'changes', job, since], read), ...keepBefore }
}
