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

const STALE_MS = 2_000
const PLACE_MS = 4_000
/** Parts of a long list of steps or artifacts that are read. */
const MOST_PARTS = 20

const SETTLE_MS = 30_000

/** The report of what was killed, and what the scan proves gone, may follow the end of a run. */
export const isSettled = (end: unknown): boolean =>
  typeof end === 'string' && Date.parse(end) < Date.now() - SETTLE_MS

/** What an ended run has does not change: events of other runs do not read it again. */
const staleTime = (ended: boolean) => (ended ? ('static' as const) : STALE_MS)

export const runQuery = (id: string) =>
  queryOptions({
    queryKey: ['run', id],
    queryFn: async () => (await answer(api.GET('/runs/{id}', pathOf(id)))).data,
    staleTime: ({ state }) => staleTime(isSettled(state.data?.completed_at)),
  })

/** Not refreshed by events: each start of a run moves all that wait. */
export const queuePlaceQuery = (id: string) =>
  queryOptions({
    queryKey: ['queue-place', id],
    queryFn: async () => (await answer(api.GET('/runs/{id}/queue', pathOf(id)))).data,
    refetchInterval: PLACE_MS,
  })

interface Part<T> {
  readonly data: readonly T[]
  readonly pagination?: { readonly next_cursor?: string }
}

const allParts = async <T>(read: (cursor?: string) => Promise<Part<T>>): Promise<readonly T[]> => {
  const all: T[] = []
  let cursor: string | undefined
  for (let parts = 0; parts === 0 || (cursor !== undefined && parts < MOST_PARTS); parts += 1) {
    const part = await read(cursor)
    all.push(...part.data)
    cursor = part.pagination?.next_cursor
  }
  return all
}

export const stepsQuery = (id: string, ended: boolean) =>
  queryOptions({
    queryKey: ['run', id, 'steps', ended],
    queryFn: () =>
      allParts((cursor) =>
        answer(api.GET('/runs/{id}/steps', { params: { path: { id }, query: { cursor } } })),
      ),
    staleTime: staleTime(ended),
    placeholderData: (before) => before,
  })

export const artifactsQuery = (id: string, ended: boolean) =>
  queryOptions({
    queryKey: ['run', id, 'artifacts', ended],
    queryFn: () =>
      allParts((cursor) =>
        answer(api.GET('/runs/{id}/artifacts', { params: { path: { id }, query: { cursor } } })),
      ),
    staleTime: staleTime(ended),
    placeholderData: (before) => before,
  })

export const attemptsQuery = (id: string, ended: boolean) =>
  queryOptions({
    queryKey: ['run', id, 'attempts', ended],
    queryFn: async () => (await answer(api.GET('/runs/{id}/attempts', pathOf(id)))).data,
    placeholderData: (before) => before,
  })

export const runEventsQuery = (uuid: string) =>
  listQuery(['run', uuid, 'events'], (cursor) =>
    answer(api.GET('/event-logs', { params: { query: { run_id: uuid, cursor, limit: PAGE } } })),
  )

export const cancelRun = (id: string) => answer(api.DELETE('/runs/{id}', pathOf(id)))
export const duplicateRun = (id: string) => answer(api.POST('/runs/{id}/duplicate', pathOf(id)))
export const startRun = (id: string) => answer(api.POST('/runs/{id}/start', pathOf(id)))

/** The routes take this many runs. */
const BULK = 1_000

const inChunks = async <T, R>(items: readonly T[], act: (chunk: readonly T[]) => Promise<readonly R[]>) => {
  const all: R[] = []
  for (let at = 0; at < items.length; at += BULK) all.push(...(await act(items.slice(at, at + BULK))))
  return all
}

export const cancelRuns = (ids: readonly (string | number)[]) =>
  inChunks(ids, async (chunk) => (await answer(api.POST('/runs/cancel', { body: { ids: [...chunk] } }))).data)

export const retryRuns = (ids: readonly (string | number)[]) =>
  inChunks(ids, async (chunk) => (await answer(api.POST('/runs/retry', { body: { ids: [...chunk] } }))).data)
