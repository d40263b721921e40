import { useNavigate } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { findingsQuery, FIRST_SORT, type FindingFilters } from '../../api/findings.ts'
import { DataTable, hrefWith, useList } from '../../ui/index.ts'
import { columnsOf } from './columns.tsx'

interface FindingListProps {
  readonly label: string
  readonly filters: FindingFilters
  readonly empty: ReactNode
}

/** Findings on the page of something else. */
export const FindingList = ({ label, filters: given, empty }: FindingListProps) => {
  const [sort, setSort] = useState('')
  const navigate = useNavigate()
  const filters = { ...given, ...(sort === '' ? {} : { sort }) }
  return (
    <DataTable
      label={label}
      columns={columnsOf(filters)}
      list={useList(findingsQuery(filters))}
      order={{ value: sort || FIRST_SORT, onChange: setSort }}
      keyOf={({ id }) => String(id)}
      onOpen={({ id }) => void navigate({ href: hrefWith(`/findings/${id}`, filters) })}
      empty={empty}
    />
  )
}
