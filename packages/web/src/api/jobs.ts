import { queryOptions } from '@tanstack/react-query'
import type { paths } from '@scanfarm/client'
import { answer, api, type Schemas } from './client.ts'
import { listQuery } from './list.ts'

export type JobFilters = NonNullable<paths['/jobs']['get']['parameters']['query']>
export type JobSummary = Schemas['JobSummary']
export type JobStrip = Awaited<ReturnType<typeof readStrip>>
export type FailureGroup = Awaited<ReturnType<typeof readFailures>>['data'][number]
export type JobProgress = Awaited<ReturnType<typeof readProgress>>

const PAGE = 50
/** What is expensive to count for a large job is read again after this time, not at each event. */
const COUNT_MS = 4_000
/** Cells that a strip can show. */
const MOST_CELLS = 200_000

const pathOf = (id: string) => ({ params: { path: { job_id: id } } })

export const jobsQuery = (filters: JobFilters) =>
  listQuery(['jobs', filters], (cursor) =>
    answer(api.GET('/jobs', { params: { query: { ...filters, cursor, limit: PAGE } } })),
  )

/** A job that has ended does not change any more, except for its retries. */
export const jobQuery = (id: string) =>
  queryOptions({
    queryKey: ['job', id],
    queryFn: async () => (await answer(api.GET('/jobs/{job_id}/summary', pathOf(id)))).data,
  })

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

export const stripQuery = (id: string, ended: boolean) =>
  queryOptions({
    queryKey: ['job', id, 'strip', ended],
    queryFn: () => readStrip(id),
    staleTime: ended ? ('static' as const) : 0,
    placeholderData: (before) => before,
  })

const readFailures = (id: string) => answer(api.GET('/jobs/{job_id}/failures', pathOf(id)))

export const failuresQuery = (id: string, ended: boolean) =>
  queryOptions({
    queryKey: ['job-failures', id, ended],
    queryFn: () => readFailures(id),
    refetchInterval: ended ? false : COUNT_MS,
    placeholderData: (before) => before,
  })

const readProgress = (id: string) => answer(api.GET('/jobs/{job_id}/progress', pathOf(id)))

export const progressQuery = (id: string, ended: boolean) =>
  queryOptions({
    queryKey: ['job-progress', id, ended],
    queryFn: () => readProgress(id),
    refetchInterval: ended ? false : COUNT_MS,
    placeholderData: (before) => before,
  })

export const cancelJob = (id: string) => answer(api.POST('/jobs/{job_id}/cancel', pathOf(id)))

export const retryJob = (
  id: string,
  body: paths['/jobs/{job_id}/retry']['post']['requestBody']['content']['application/json'],
) => answer(api.POST('/jobs/{job_id}/retry', { ...pathOf(id), body }))

export const changePriority = (id: string, priority: Schemas['JobSummary']['priority']) =>
  answer(api.PATCH('/jobs/{job_id}', { ...pathOf(id), body: { priority } }))
