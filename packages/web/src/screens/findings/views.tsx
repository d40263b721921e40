import { useQuery, useQueryClient } from '@tanstack/react-query'
import { findingFacetsQuery, findingTotalQuery, type FindingFilters } from '../../api/findings.ts'
import { StateViews } from '../../ui/index.ts'

export const Views = ({ filters }: { filters: FindingFilters }) => {
  const rest = { ...filters, state: undefined, since: undefined }
  const { data: facets } = useQuery(
    findingFacetsQuery(useQueryClient(), { ...rest, state: 'open,gone' }, ['state']),
  )
  const { data: fresh } = useQuery(findingTotalQuery({ ...rest, since: '24h' }))
  return <StateViews path="/findings" filters={filters} facets={facets} gone="Closed" fresh={fresh} />
}
