import { api, type Schemas, type SearchOf } from './client.ts'
import { answerQuery, dataQuery, listQuery } from './list.ts'

export type Infra = Schemas['CloudInfra']
export type Machine = Schemas['CloudInstance']
export type InfraFilters = SearchOf<'/cloud/instances'>

/** Changes of machines cause no events. */
const refetchInterval = 5_000

export const hasEnded = ({ status }: Pick<Infra, 'status'>): boolean =>
  status === 'destroyed' || status === 'failed'

export const infrasQuery = (filters: InfraFilters) => ({
  ...listQuery(['cloud', filters], (cursor) =>
    api.GET('/cloud/instances', { params: { query: { ...filters, cursor, limit: 100 } } }),
  ),
  refetchInterval,
})

export const pathOf = (infra_id: string) => ({ params: { path: { infra_id } } })

export const infraQuery = (id: string) => ({
  ...dataQuery(['infra', id], () => api.GET('/cloud/instances/{infra_id}', pathOf(id))),
  refetchInterval,
})

export const providersQuery = {
  ...answerQuery(['cloud-providers'], () => api.GET('/cloud/providers')),
  staleTime: 60_000,
}
