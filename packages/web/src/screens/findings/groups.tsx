import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { findingGroupsQuery, FIRST_SORT, type FindingFilters, type GroupBy } from '../../api/findings.ts'
import { hostPath } from '../../api/assets.ts'
import { DataTable, hrefWith, Link, Severity, type Column } from '../../ui/index.ts'

type Group = Awaited<
  ReturnType<NonNullable<ReturnType<typeof findingGroupsQuery>['queryFn']>>
>['groups'][number]

const NAMES = { check: 'Checks', host: 'Hosts' } as const

/** The list of a group, where it can be a filter. */
const pathOf = (filters: FindingFilters, by: GroupBy, { value }: Group): string =>
  value === '' ? '' : hrefWith('/findings', { ...filters, [by]: value })

const columnsOf = (filters: FindingFilters, by: GroupBy): readonly Column<Group>[] => [
  {
    id: 'severity',
    label: 'Worst',
    width: '88px',
    sort: 'severity',
    cell: ({ severity }) => <Severity severity={severity} />,
  },
  {
    id: 'name',
    label: by === 'check' ? 'Check' : 'Host',
    width: 'minmax(190px, 3fr)',
    sort: 'name',
    cell: (group) => {
      const name = (by === 'check' && group.title) || group.value
      const path = pathOf(filters, by, group)
      if (path === '') return <span className="muted">no {by}</span>
      return (
        <Link href={path} title={group.value}>
          {name}
        </Link>
      )
    },
  },
  ...(by === 'check'
    ? [
        {
          id: 'value',
          label: 'Identifier',
          width: 'minmax(100px, 1fr)',
          sort: 'value',
          cell: ({ value }: Group) => <span title={value}>{value}</span>,
        },
      ]
    : [
        {
          id: 'view',
          label: 'All of it',
          width: '90px',
          cell: ({ value }: Group) => (value === '' ? '' : <Link href={hostPath(value)}>Host view</Link>),
        },
      ]),
  {
    id: 'count',
    label: 'Findings',
    width: '84px',
    align: 'end',
    sort: 'count',
    cell: ({ count }) => <span className="number">{count.toLocaleString()}</span>,
  },
  {
    id: 'others',
    label: by === 'check' ? 'Hosts' : 'Checks',
    width: '84px',
    align: 'end',
    sort: by === 'check' ? 'hosts' : 'checks',
    cell: ({ checks, hosts }) => (
      <span className="number">{(by === 'check' ? hosts : checks).toLocaleString()}</span>
    ),
  },
]

interface GroupsProps {
  readonly filters: FindingFilters
  readonly by: GroupBy
  readonly empty: ReactNode
}

/** Findings that match, one row for each check or host. */
export const Groups = ({ filters, by, empty }: GroupsProps) => {
  const navigate = useNavigate()
  const [sort, setSort] = useState(FIRST_SORT)
  const { data, error, refetch } = useQuery(findingGroupsQuery(filters, by, sort || FIRST_SORT))
  return (
    <>
      {data?.complete === false ? (
        <p className="muted">
          Only the newest {data.counted.toLocaleString()} findings, and the first{' '}
          {data.groups.length.toLocaleString()} groups of {data.total.toLocaleString()}, are shown: set a
          filter to see others.
        </p>
      ) : null}
      <DataTable
        label={`${NAMES[by]} with findings`}
        columns={columnsOf(filters, by)}
        list={{ id: sort, rows: data?.groups, total: data?.total, error, retry: () => void refetch() }}
        order={{ value: sort, onChange: setSort }}
        keyOf={({ value }) => value}
        onOpen={(group) => {
          const href = pathOf(filters, by, group)
          if (href !== '') void navigate({ href })
        }}
        empty={empty}
      />
    </>
  )
}
