import './jobs.css'
import { jobsQuery } from '../../api/jobs.ts'
import { listScreen, PRIORITY_FILTER } from '../../ui/index.ts'
import { COLUMNS } from './columns.tsx'

const STATUSES = ['open', 'ended', 'completed', 'failed', 'cancelled', 'partial']

export const Screen = listScreen({
  title: 'Jobs',
  name: 'jobs',
  filters: [
    { name: 'status', label: 'Status', options: STATUSES },
    { name: 'workflow', label: 'Workflow' },
    PRIORITY_FILTER,
    { name: 'trigger', label: 'Started by', options: ['manual', 'cron', 'event', 'watch'] },
    { name: 'search', label: 'Beginning of the id' },
  ],
  options: { workflow: '--workflow', status: '--status', sort: '--sort' },
  query: jobsQuery,
  columns: COLUMNS,
  idOf: ({ job_id: id }) => id,
})
