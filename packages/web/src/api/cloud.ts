import { queryOptions } from '@tanstack/react-query'
import type { paths } from '@scanfarm/client'
import { answer, api, type Schemas } from './client.ts'
import { listQuery } from './list.ts'

export type Infra = Schemas['CloudInfra']
export type Machine = Schemas['CloudInstance']
export type InfraFilters = NonNullable<paths['/cloud/instances']['get']['parameters']['query']>
export type EstimateRequest = Schemas['EstimateCost']

const PAGE = 100
/** Changes of machines cause no events. */
const POLL_MS = 5_000

export const hasEnded = ({ status }: Pick<Infra, 'status'>): boolean =>
  status === 'destroyed' || status === 'failed'

export const infrasQuery = (filters: InfraFilters) => ({
  ...listQuery(['cloud', filters], (cursor) =>
    answer(api.GET('/cloud/instances', { params: { query: { ...filters, cursor, limit: PAGE } } })),
  ),
  refetchInterval: POLL_MS,
})

const pathOf = (infra_id: string) => ({ params: { path: { infra_id } } })

export const infraQuery = (id: string) =>
  queryOptions({
    queryKey: ['infra', id],
    queryFn: async () => (await answer(api.GET('/cloud/instances/{infra_id}', pathOf(id)))).data,
    refetchInterval: POLL_MS,
  })

export const providersQuery = queryOptions({
  queryKey: ['cloud-providers'],
  queryFn: () => answer(api.GET('/cloud/providers')),
  staleTime: 60_000,
})

export const destroyInfra = (id: string) => answer(api.DELETE('/cloud/instances/{infra_id}', pathOf(id)))
export const validateProvider = (name: string) =>
  answer(api.POST('/cloud/providers/{name}/validate', { params: { path: { name } } }))
export const estimateCost = (body: EstimateRequest) => answer(api.POST('/cloud/estimate', { body }))
