import type { ReactNode } from 'react'
import { DataTable, type DataTableProps } from './data-table.tsx'
import { FilterBar, useFilters, type Filter } from './filters.tsx'
import { SavedFilters } from './saved-filters.tsx'

interface FilteredListProps<T> extends DataTableProps<T> {
  /** Path of the screen, without the slash: `runs`. With it the filters can be saved. */
  readonly screen?: string
  readonly filters: readonly Filter[]
  /** Shown between the filters and the table. */
  readonly children?: ReactNode
}

/** A table below its filters. */
export const FilteredList = <T,>({ screen, filters, advice, children, ...table }: FilteredListProps<T>) => {
  const names = filters.map(({ name }) => name)
  const [values] = useFilters(names)
  const isFiltered = Object.keys(values).length > 0
  return (
    <>
      <FilterBar filters={filters}>
        {screen === undefined ? null : <SavedFilters screen={screen} names={names} />}
      </FilterBar>
      {children}
      <DataTable
        {...table}
        advice={isFiltered ? 'Nothing matches these filters. Clear a filter to see more.' : advice}
      />
    </>
  )
}
