import { queryOptions } from '@tanstack/react-query'
import { answer, api, byId, dataOf, type SearchOf } from './client.ts'
import { dataQuery, keepBefore, listQuery, type ListPage } from './list.ts'

export type RunFilters = SearchOf<'/runs'>

const PAGE = 100

export const runsQuery = (filters: RunFilters) =>
  listQuery(['runs', filters], (cursor) =>
    api.GET('/runs', { params: { query: { ...filters, cursor, limit: PAGE } } }),
  )

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
    queryFn: () => dataOf(api.GET('/runs/{id}', byId(id))),
    staleTime: ({ state }) => staleTime(isSettled(state.data?.completed_at)),
  })

/** Not refreshed by events: each start of a run moves all that wait. */
export const queuePlaceQuery = (id: string) => ({
  ...dataQuery(['queue-place', id], () => api.GET('/runs/{id}/queue', byId(id))),
  refetchInterval: PLACE_MS,
})

/** All parts of a list of the run. */
const partsQuery = <T>(
  id: string,
  list: 'steps' | 'artifacts',
  ended: boolean,
  read: (params: {
    path: { id: string }
    query: { cursor: string | undefined }
  }) => Promise<{ readonly data: ListPage<T> }>,
) =>
  queryOptions({
    queryKey: ['run', id, list, ended],
    queryFn: async (): Promise<readonly T[]> => {
      const all: T[] = []
      let cursor: string | undefined
      for (let parts = 0; parts === 0 || (cursor !== undefined && parts < MOST_PARTS); parts += 1) {
        const part = await answer(read({ path: { id }, query: { cursor } }))
        all.push(...part.data)
        cursor = part.pagination?.next_cursor
      }
      return all
    },
    staleTime: staleTime(ended),
    placeholderData: (before) => before,
  })

export const stepsQuery = (id: string, ended: boolean) =>
  partsQuery(id, 'steps', ended, (params) => api.GET('/runs/{id}/steps', { params }))

export const artifactsQuery = (id: string, ended: boolean) =>
  partsQuery(id, 'artifacts', ended, (params) => api.GET('/runs/{id}/artifacts', { params }))

export const attemptsQuery = (id: string, ended: boolean) => ({
  ...dataQuery(['run', id, 'attempts', ended], () => api.GET('/runs/{id}/attempts', byId(id))),
  ...keepBefore,
})

export const runEventsQuery = (uuid: string) =>
  listQuery(['run', uuid, 'events'], (cursor) =>
    api.GET('/event-logs', { params: { query: { run_id: uuid, cursor, limit: PAGE } } }),
  )

/** The routes take this many runs. */
const BULK = 1_000

const inChunks = async <T, R>(items: readonly T[], act: (chunk: readonly T[]) => Promise<readonly R[]>) => {
  const all: R[] = []
  for (let at = 0; at < items.length; at += BULK) all.push(...(await act(items.slice(at, at + BULK))))
  return all
}

export const cancelRuns = (ids: readonly (string | number)[]) =>
  inChunks(ids, (chunk) => dataOf(api.POST('/runs/cancel', { body: { ids: [...chunk] } })))
export const retryRuns = (ids: readonly (string | number)[]) =>
  inChunks(ids, (chunk) => dataOf(api.POST('/runs/retry', { body: { ids: [...chunk] } })))
