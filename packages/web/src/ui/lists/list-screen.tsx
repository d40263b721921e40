import type { listQuery } from '../../api/list.ts'
import { Link } from '../link.tsx'
import { Page } from '../page.tsx'
import type { DataTableProps } from './data-table.tsx'
import { FilteredList } from './filtered-list.tsx'
import { useFilters, type Filter } from './filters.tsx'
import { useList } from './use-list.ts'

interface ListScreenProps<T> extends Pick<DataTableProps<T>, 'columns' | 'bulk'> {
  readonly title: string
  /** Path of the screen and of the API, and the command of the program. */
  readonly name: string
  readonly filters: readonly Filter[]
  /** The options of the command by filter; without one for each filter that is set there is no command line. */
  readonly options: Readonly<Record<string, string>>
  readonly query: (filters: object) => ReturnType<typeof listQuery<T>>
  readonly idOf: (row: T) => string
}

/** The screen of a list that the server sorts, whose rows are pages of their own. */
export const listScreen = <T,>({
  title,
  name,
  filters,
  options,
  query,
  idOf,
  ...table
}: ListScreenProps<T>) => {
  const names = [...filters.map((filter) => filter.name), 'sort']
  return function Screen() {
    const [values, set] = useFilters(names)
    const given = Object.entries(values as Record<string, string>)
    const words = given.map(([filter, value]) => [options[filter], value])
    const known = words.flat().filter((word) => word !== undefined)
    const search = new URLSearchParams(given).toString()
    const line = {
      title: `List these ${name}`,
      api: ['GET', `/${name}${search && `?${search}`}`] as const,
      ...(known.length === 2 * words.length && { cli: [name, ...known] }),
    }
    return (
      <Page title={title} commands={[line]}>
        <FilteredList
          {...table}
          screen={name}
          filters={filters}
          label={title}
          list={useList(query(values))}
          order={{ value: values['sort'] ?? '', onChange: (sort) => set({ sort }) }}
          keyOf={idOf}
          hrefOf={(row) => `/${name}/${idOf(row)}`}
          none={`No ${name}`}
          advice={<Link href="/workflows">Start a workflow</Link>}
        />
      </Page>
    )
  }
}
