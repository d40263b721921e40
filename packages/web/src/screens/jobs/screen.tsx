import './jobs.css'
import { useNavigate } from '@tanstack/react-router'
import { jobsQuery, type JobFilters } from '../../api/jobs.ts'
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
import { COLUMNS } from './columns.tsx'

const FILTERS: readonly Filter[] = [
  {
    name: 'status',
    label: 'Status',
    options: ['open', 'ended', 'completed', 'failed', 'cancelled', 'partial'],
  },
  { name: 'workflow', label: 'Workflow' },
  PRIORITY_FILTER,
  { name: 'trigger', label: 'Started by', options: ['manual', 'cron', 'event', 'watch'] },
  { name: 'search', label: 'Beginning of the id' },
]
const NAMES = [...FILTERS.map(({ name }) => name), 'sort']
const OPTIONS: readonly string[] = ['workflow', 'status', 'sort']

export const Screen = () => {
  const [filters, set] = useFilters(NAMES)
  const navigate = useNavigate()
  const list = useList(jobsQuery(filters as JobFilters))
  const query = new URLSearchParams(filters as Record<string, string>).toString()
  return (
    <Page
      title="Jobs"
      actions={
        <Commands
          lines={[
            {
              title: 'List these jobs',
              ...(Object.keys(filters).every((name) => OPTIONS.includes(name)) && {
                cli: [
                  'jobs',
                  ...Object.entries(filters).flatMap(([name, value]) => [`--${name}`, value ?? '']),
                ],
              }),
              api: ['GET', `/jobs${query && `?${query}`}`],
            },
          ]}
        />
      }
    >
      <FilteredList
        screen="jobs"
        filters={FILTERS}
        label="Jobs"
        columns={COLUMNS}
        list={list}
        order={{ value: filters['sort'] ?? '', onChange: (sort) => set({ sort }) }}
        keyOf={({ job_id: id }) => id}
        onOpen={({ job_id: id }) => void navigate({ href: `/jobs/${id}` })}
        none="No jobs"
        advice={<Link href="/workflows">Start a workflow</Link>}
      />
    </Page>
  )
}
