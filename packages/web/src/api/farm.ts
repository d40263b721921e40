import { queryOptions } from '@tanstack/react-query'
import { answer, api } from './client.ts'
import { listQuery } from './list.ts'

/** Heartbeats and samples cause no events. A list of thousands of workers is too large to follow each run. */
const HEARTBEAT_MS = 3_000
const SAMPLE_MS = 20_000
const SLOW_MS = 60_000

export const RANGES = ['1h', '24h', '7d'] as const
export type Range = (typeof RANGES)[number]

export const overviewQuery = queryOptions({
  queryKey: ['overview'],
  queryFn: () => answer(api.GET('/stats/overview')),
  refetchInterval: SAMPLE_MS,
})

/** Not below a live key: counts are sampled once a minute. */
export const seriesQuery = (range: Range) =>
  queryOptions({
    queryKey: ['series', range],
    queryFn: () => answer(api.GET('/stats/series', { params: { query: { range } } })),
    refetchInterval: range === '1h' ? SAMPLE_MS : SLOW_MS,
    placeholderData: (before) => before,
  })

export const queueQuery = queryOptions({
  queryKey: ['queue'],
  queryFn: () => answer(api.GET('/queue')),
  refetchInterval: SAMPLE_MS,
})

/** For administrators only. */
export const deadDeliveriesQuery = queryOptions({
  queryKey: ['webhooks', 'dead', 'count'],
  queryFn: async () => {
    const query = { status: 'dead', limit: 1 } as const
    return (await answer(api.GET('/webhook-deliveries', { params: { query } }))).pagination.total
  },
})

export const versionQuery = queryOptions({
  queryKey: ['version'],
  queryFn: async () => (await answer(api.GET('/server-info'))).version,
  staleTime: SLOW_MS,
})

export const workersQuery = {
  ...listQuery(['workers'], (cursor) => answer(api.GET('/workers', { params: { query: { cursor } } }))),
  refetchInterval: HEARTBEAT_MS,
}

/** Programs that a workflow requires. */
export const requiredToolsQuery = queryOptions({
  queryKey: ['required-tools'],
  queryFn: async () => Object.keys((await answer(api.GET('/registry-info'))).binaries),
  staleTime: SLOW_MS,
})

const pathOf = (id: string) => ({ params: { path: { id } } })

export const workerQuery = (id: string) =>
  queryOptions({
    queryKey: ['worker', id],
    queryFn: async () => (await answer(api.GET('/workers/{id}', pathOf(id)))).data,
    refetchInterval: HEARTBEAT_MS,
  })

export const drainWorker = (id: string, body: { readonly stop?: boolean; readonly for?: string }) =>
  answer(api.POST('/workers/{id}/drain', { ...pathOf(id), body }))
export const resumeWorker = (id: string) => answer(api.POST('/workers/{id}/resume', pathOf(id)))

export const settingsQuery = queryOptions({
  queryKey: ['settings'],
  queryFn: async () => (await answer(api.GET('/settings'))).data,
})

export const settingsStatusQuery = queryOptions({
  queryKey: ['settings', 'status'],
  queryFn: () => answer(api.GET('/settings/status')),
})

export const settingsYamlQuery = queryOptions({
  queryKey: ['settings', 'yaml'],
  queryFn: () => answer(api.GET('/settings/yaml', { parseAs: 'text' })),
})

export const serverInfoQuery = queryOptions({
  queryKey: ['server-info'],
  queryFn: () => answer(api.GET('/server-info')),
})

export const reloadSettings = () => answer(api.POST('/settings/reload'))
