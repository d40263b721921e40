import { answer, api, byId } from './client.ts'
import { answerQuery, dataQuery, keepBefore, listQuery } from './list.ts'

/** Heartbeats and samples cause no events. A list of thousands of workers is too large to follow each run. */
const HEARTBEAT_MS = 3_000
const SAMPLE_MS = 20_000
const SLOW_MS = 60_000

export const RANGES = ['1h', '24h', '7d'] as const
export type Range = (typeof RANGES)[number]

export const overviewQuery = {
  ...answerQuery(['overview'], () => api.GET('/stats/overview')),
  refetchInterval: SAMPLE_MS,
}

/** Not below a live key: counts are sampled once a minute. */
export const seriesQuery = (range: Range) => ({
  ...answerQuery(['series', range], () => api.GET('/stats/series', { params: { query: { range } } })),
  ...keepBefore,
  refetchInterval: range === '1h' ? SAMPLE_MS : SLOW_MS,
})

export const queueQuery = { ...answerQuery(['queue'], () => api.GET('/queue')), refetchInterval: SAMPLE_MS }

/** For administrators only. */
export const deadDeliveriesQuery = {
  queryKey: ['webhooks', 'dead', 'count'],
  queryFn: async () => {
    const query = { status: 'dead', limit: 1 } as const
    return (await answer(api.GET('/webhook-deliveries', { params: { query } }))).pagination.total
  },
}

export const versionQuery = {
  queryKey: ['version'],
  queryFn: async () => (await answer(api.GET('/server-info'))).version,
  staleTime: SLOW_MS,
}

export const workersQuery = {
  ...listQuery(['workers'], (cursor) => api.GET('/workers', { params: { query: { cursor } } })),
  refetchInterval: HEARTBEAT_MS,
}

/** Programs that a workflow requires. */
export const requiredToolsQuery = {
  queryKey: ['required-tools'],
  queryFn: async () => Object.keys((await answer(api.GET('/registry-info'))).binaries),
  staleTime: SLOW_MS,
}

export const workerQuery = (id: string) => ({
  ...dataQuery(['worker', id], () => api.GET('/workers/{id}', byId(id))),
  refetchInterval: HEARTBEAT_MS,
})

export const settingsQuery = dataQuery(['settings'], () => api.GET('/settings'))
export const settingsStatusQuery = answerQuery(['settings', 'status'], () => api.GET('/settings/status'))
export const settingsYamlQuery = answerQuery(['settings', 'yaml'], () =>
  api.GET('/settings/yaml', { parseAs: 'text' }),
)
export const serverInfoQuery = answerQuery(['server-info'], () => api.GET('/server-info'))
