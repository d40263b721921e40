import { useNavigate } from '@tanstack/react-router'
import { runsQuery, type RunFilters } from '../../api/runs.ts'
import {
  Commands,
  FilteredList,
  Link,
  Page,
  PRIORITY_FILTER,
  useFilters,
  useList,
  type Filter,
} from '../../ui/index.ts'
import { BulkActions } from './bulk.tsx'
import { COLUMNS } from './columns.tsx'

const FILTERS: readonly Filter[] = [
  {
    name: 'status',
    label: 'Status',
    options: ['pending', 'queued', 'running', 'completed', 'failed', 'cancelled'],
  },
  { name: 'outcome', label: 'Outcome', options: ['clean', 'partial', 'nothing_done'] },
  { name: 'workflow', label: 'Workflow' },
  { name: 'target', label: 'Target' },
  { name: 'workspace', label: 'Workspace' },
  PRIORITY_FILTER,
  { name: 'run_mode', label: 'Mode', options: ['local', 'distributed', 'cloud'] },
  { name: 'job_id', label: 'Job' },
]
const NAMES = [...FILTERS.map(({ name }) => name), 'sort']

/** The program has no filter by workspace or mode. */
const OPTIONS: Readonly<Record<string, string>> = {
  status: '--status',
  outcome: '--outcome',
  workflow: '--workflow',
  target: '--target',
  priority: '--priority',
  job_id: '--job',
  sort: '--sort',
}

const cliOf = (filters: Readonly<Partial<Record<string, string>>>): readonly string[] | undefined => {
  const words = Object.entries(filters).map(([name, value]) => [OPTIONS[name], value])
  return words.every(([option]) => option !== undefined)
    ? ['runs', ...words.flat().filter((word) => word !== undefined)]
    : undefined
}

export const Screen = () => {
  const [filters, set] = useFilters(NAMES)
  const navigate = useNavigate()
  const list = useList(runsQuery(filters as RunFilters))
  const query = new URLSearchParams(filters as Record<string, string>).toString()
  return (
    <Page
      title="Runs"
      actions={
        <Commands
          lines={[
            { title: 'List these runs', cli: cliOf(filters), api: ['GET', `/runs${query && `?${query}`}`] },
          ]}
        />
      }
    >
      <FilteredList
        screen="runs"
        filters={FILTERS}
        label="Runs"
        columns={COLUMNS}
        list={list}
        order={{ value: filters['sort'] ?? '', onChange: (sort) => set({ sort }) }}
        keyOf={({ run_uuid }) => run_uuid}
        onOpen={({ run_uuid }) => void navigate({ href: `/runs/${run_uuid}` })}
        bulk={(runs, clear) => <BulkActions runs={runs} clear={clear} />}
        none="No runs"
        advice={<Link href="/workflows">Start a workflow</Link>}
      />
    </Page>
  )
}
