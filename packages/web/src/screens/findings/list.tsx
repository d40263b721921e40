import { useState } from 'react'
import { findingsQuery, FIRST_SORT, type FindingFilters } from '../../api/findings.ts'
import { DataTable, hrefWith, useList, type DataTableProps } from '../../ui/index.ts'
import { columnsOf } from './columns.tsx'

interface FindingListProps extends Pick<DataTableProps<never>, 'label' | 'none' | 'advice'> {
  readonly filters: FindingFilters
}

/** Findings on the page of something else. */
export const FindingList = ({ filters: given, ...table }: FindingListProps) => {
  const [sort, setSort] = useState('')
  const filters = { ...given, ...(sort === '' ? {} : { sort }) }
  return (
    <DataTable
      {...table}
      columns={columnsOf(filters)}
      list={useList(findingsQuery(filters))}
      order={{ value: sort || FIRST_SORT, onChange: setSort }}
      keyOf={({ id }) => String(id)}
      hrefOf={({ id }) => hrefWith(`/findings/${id}`, filters)}
    />
  )
}
