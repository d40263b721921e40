import type { ReactNode } from 'react'
import { DataTable, type DataTableProps } from './data-table.tsx'
import { FilterBar, useFilters, type Filter } from './filters.tsx'
import { EmptyState } from '../page.tsx'
import { SavedFilters } from './saved-filters.tsx'

interface FilteredListProps<T> extends Omit<DataTableProps<T>, 'empty'> {
  /** Path of the screen, without the slash: `runs`. With it the filters can be saved. */
  readonly screen?: string
  readonly filters: readonly Filter[]
  /** Shown without rows: what is missing, and what to do if no filter is set. */
  readonly none: string
  readonly advice: ReactNode
  /** Shown between the filters and the table. */
  readonly children?: ReactNode
}

/** A table below its filters. */
export const FilteredList = <T,>({
  screen,
  filters,
  none,
  advice,
  children,
  ...table
}: FilteredListProps<T>) => {
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
        empty={
          <EmptyState title={none}>
            {isFiltered ? 'Nothing matches these filters. Clear a filter to see more.' : advice}
          </EmptyState>
        }
      />
    </>
  )
}
