import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { findingGroupsQuery, FIRST_SORT, type FindingFilters, type GroupBy } from '../../api/findings.ts'
import { hostPath } from '../../api/assets.ts'
import type { DataOf } from '../../api/list.ts'
import {
  column,
  DataTable,
  hrefWith,
  Link,
  Severity,
  type Column,
  type DataTableProps,
} from '../../ui/index.ts'

type Group = DataOf<typeof findingGroupsQuery>['groups'][number]

const NAMES = { check: 'Checks', host: 'Hosts' } as const

/** The list of a group, where it can be a filter. */
const pathOf = (filters: FindingFilters, by: GroupBy, { value }: Group): string =>
  value === '' ? '' : hrefWith('/findings', { ...filters, [by]: value })

const columnsOf = (filters: FindingFilters, by: GroupBy): readonly Column<Group>[] => [
  column('severity', 'Worst', { width: '88px', sort: 'severity' }, ({ severity }) => (
    <Severity severity={severity} />
  )),
  column(
    'name',
    by === 'check' ? 'Check' : 'Host',
    { width: 'minmax(190px, 3fr)', sort: 'name' },
    (group) => {
      const name = (by === 'check' && group.title) || group.value
      const path = pathOf(filters, by, group)
      if (path === '') return <span className="muted">no {by}</span>
      return (
        <Link href={path} title={group.value}>
          {name}
        </Link>
      )
    },
  ),
  ...(by === 'check'
    ? [
        column('value', 'Identifier', { width: 'minmax(100px, 1fr)', sort: 'value' }, ({ value }: Group) => (
          <span title={value}>{value}</span>
        )),
      ]
    : [
        column('view', 'All of it', '90px', ({ value }: Group) =>
          value === '' ? '' : <Link href={hostPath(value)}>Host view</Link>,
        ),
      ]),
  column('count', 'Findings', { width: '84px', sort: 'count', align: 'end' }, ({ count }) => (
    <span className="number">{count.toLocaleString()}</span>
  )),
  column(
    'others',
    by === 'check' ? 'Hosts' : 'Checks',
    { width: '84px', sort: by === 'check' ? 'hosts' : 'checks', align: 'end' },
    ({ checks, hosts }) => (
      <span className="number">{(by === 'check' ? hosts : checks).toLocaleString()}</span>
    ),
  ),
]

interface GroupsProps extends Pick<DataTableProps<Group>, 'none' | 'advice'> {
  readonly filters: FindingFilters
  readonly by: GroupBy
}

/** Findings that match, one row for each check or host. */
export const Groups = ({ filters, by, ...empty }: GroupsProps) => {
  const [sort, setSort] = useState(FIRST_SORT)
  const { data, error, refetch } = useQuery(findingGroupsQuery(filters, by, sort || FIRST_SORT))
  return (
    <>
      {data?.complete === false ? (
        <p className="muted">
          {data.groups.length < data.total
            ? `The first ${data.groups.length.toLocaleString()} of ${data.total.toLocaleString()} groups, of the newest ${data.counted.toLocaleString()} findings, are shown`
            : `Only the newest ${data.counted.toLocaleString()} findings are counted`}
          : set a filter to see others.
        </p>
      ) : null}
      <DataTable
        {...empty}
        label={`${NAMES[by]} with findings`}
        columns={columnsOf(filters, by)}
        list={{ id: sort, rows: data?.groups, total: data?.total, error, retry: () => void refetch() }}
        order={{ value: sort, onChange: setSort }}
        keyOf={({ value }) => value}
        hrefOf={(group) => pathOf(filters, by, group)}
      />
    </>
  )
}
