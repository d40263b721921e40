import { answer, api, type BodyOf, type Schemas, type SearchOf } from './client.ts'
import { answerQuery, dataQuery, keepBefore, listQuery, type DataOf } from './list.ts'

export type JobFilters = SearchOf<'/jobs'>
export type JobSummary = Schemas['JobSummary']
export type JobStrip = Awaited<ReturnType<typeof readStrip>>
export type FailureGroup = DataOf<typeof failuresQuery>['data'][number]
export type JobProgress = DataOf<typeof progressQuery>

/** What is expensive to count for a large job is read again after this time, not at each event. */
const COUNT_MS = 4_000
/** Cells that a strip can show. */
const MOST_CELLS = 200_000

export const pathOf = (id: string) => ({ params: { path: { job_id: id } } })

export const jobsQuery = (filters: JobFilters) =>
  listQuery(['jobs', filters], (cursor) =>
    api.GET('/jobs', { params: { query: { ...filters, cursor, limit: 50 } } }),
  )

/** A job that has ended does not change any more, except for its retries. */
export const jobQuery = (id: string) =>
  dataQuery(['job', id], () => api.GET('/jobs/{job_id}/summary', pathOf(id)))

const readStrip = async (id: string) => {
  const first = await readStripPage(id)
  let { next_cursor: cursor, states, ids } = first
  while (cursor !== undefined && cellsOf(ids) < MOST_CELLS) {
    const page = await readStripPage(id, cursor)
    states += page.states
    ids = [...ids, ...page.ids]
    cursor = page.next_cursor
  }
  return { total: first.total, without_run: first.without_run, states, ids, complete: cursor === undefined }
}

const readStripPage = (id: string, cursor?: string) =>
  answer(api.GET('/jobs/{job_id}/strip', { params: { path: { job_id: id }, query: { cursor } } }))

const cellsOf = (ids: readonly (readonly number[])[]): number =>
  ids.reduce((sum, [, count = 0]) => sum + count, 0)

export const stripQuery = (id: string, ended: boolean) => ({
  ...keepBefore,
  queryKey: ['job', id, 'strip', ended],
  queryFn: () => readStrip(id),
  staleTime: ended ? ('static' as const) : 0,
})

export const failuresQuery = (id: string, ended: boolean) => ({
  ...answerQuery(['job-failures', id, ended], () => api.GET('/jobs/{job_id}/failures', pathOf(id))),
  ...keepBefore,
  refetchInterval: ended ? (false as const) : COUNT_MS,
})

export const progressQuery = (id: string, ended: boolean) => ({
  ...answerQuery(['job-progress', id, ended], () => api.GET('/jobs/{job_id}/progress', pathOf(id))),
  ...keepBefore,
  refetchInterval: ended ? (false as const) : COUNT_MS,
})

export const retryJob = (id: string, body: BodyOf<'/jobs/{job_id}/retry', 'post'>) =>
  answer(api.POST('/jobs/{job_id}/retry', { ...pathOf(id), body }))
