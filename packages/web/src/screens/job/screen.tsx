import './job.css'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { jobQuery, type JobSummary } from '../../api/jobs.ts'
import { runsQuery, type RunFilters } from '../../api/runs.ts'
import {
  DataTable,
  EmptyState,
  KeyValues,
  Link,
  Page,
  RecordPage,
  ReportLink,
  Time,
  UrlTabs,
  useList,
} from '../../ui/index.ts'
import { JobStatus } from '../jobs/columns.tsx'
import { BulkActions } from '../runs/bulk.tsx'
import { COLUMNS } from '../runs/columns.tsx'
import { Actions } from './actions.tsx'
import { Failures } from './failures.tsx'
import { Progress } from './progress.tsx'
import { LeftOut, Refusals } from './refusals.tsx'
import { Strip } from './strip.tsx'

const Runs = ({ jobId }: { jobId: string }) => {
  const navigate = useNavigate()
  const [sort, setSort] = useState('')
  const filters = { job_id: jobId, ...(sort === '' ? {} : { sort }) } as RunFilters
  return (
    <DataTable
      label="Runs of the job"
      columns={COLUMNS.filter(({ id }) => id !== 'workflow')}
      list={useList(runsQuery(filters))}
      order={{ value: sort, onChange: setSort }}
      keyOf={({ run_uuid: uuid }) => uuid}
      onOpen={({ run_uuid: uuid }) => void navigate({ href: `/runs/${uuid}` })}
      bulk={(runs, clear) => <BulkActions runs={runs} clear={clear} />}
      empty={<EmptyState title="No run yet">The runs of this job are being created.</EmptyState>}
    />
  )
}

const Facts = ({ job }: { job: JobSummary }) => (
  <KeyValues
    facts={[
      ['Outcome', <JobStatus key="status" job={job} />],
      [
        'Workflow',
        <Link key="workflow" href={`/workflows/${encodeURIComponent(job.workflow_name)}`}>
          {job.workflow_name}
        </Link>,
      ],
      ['Targets', job.target_count.toLocaleString()],
      [
        'Scope',
        job.scope === '' ? (
          ''
        ) : (
          <Link key="scope" href="/scopes">
            {job.scope}
          </Link>
        ),
      ],
      ['Priority', job.priority],
      ['Mode', job.run_mode],
      ['At once', job.concurrency],
      ['Started by', job.trigger_name === '' ? job.trigger_type : `${job.trigger_type} ${job.trigger_name}`],
      ['Created', <Time key="created" at={job.created_at} />],
      [
        'Findings',
        job.ended_at === null ? (
          ''
        ) : (
          <span key="findings">
            <Link href={`/changes?job=${job.job_id}`}>what changed</Link>
            {' · '}
            <ReportLink of="jobs" id={job.job_id} />
          </span>
        ),
      ],
      ['Ended', job.ended_at === null ? '' : <Time key="ended" at={job.ended_at} />],
      [
        'Cancelled',
        job.cancel_requested_at === null ? '' : <Time key="cancelled" at={job.cancel_requested_at} />,
      ],
      [
        'Retry of',
        job.retry_of === '' ? (
          ''
        ) : (
          <Link key="of" href={`/jobs/${job.retry_of}`}>
            {job.retry_of}
          </Link>
        ),
      ],
      [
        'Retried by',
        job.retries.length === 0
          ? ''
          : job.retries.map((id) => (
              <span key={id}>
                <Link href={`/jobs/${id}`}>{id}</Link>{' '}
              </span>
            )),
      ],
      [
        'Machines',
        job.infra_id === '' ? (
          ''
        ) : (
          <Link key="infra" href="/cloud">
            {job.infra_id}
          </Link>
        ),
      ],
    ]}
  />
)

const JobPage = ({ job }: { job: JobSummary }) => {
  const { job_id: id } = job
  const ended = job.status !== 'open'
  const { counts } = job
  // Mode delta may leave out all targets.
  const runs = job.target_count > 0
  const problems = counts === null ? 0 : counts.failed + counts.completed - counts.clean
  return (
    <Page
      title={`Job ${id} · ${job.workflow_name}`}
      heading={
        <>
          {job.workflow_name} <span className="muted">· job {id}</span>
        </>
      }
      actions={<Actions job={job} />}
    >
      <Facts job={job} />
      {runs ? <Progress jobId={id} ended={ended} /> : null}
      <UrlTabs
        label="Parts of the job"
        tabs={[
          ...(runs
            ? [
                { id: 'targets', label: 'Targets', content: <Strip jobId={id} ended={ended} /> },
                {
                  id: 'failures',
                  label: `Failures${problems > 0 ? ` (${problems.toLocaleString()})` : ''}`,
                  content: <Failures jobId={id} ended={ended} />,
                },
                { id: 'runs', label: 'Runs', content: <Runs jobId={id} /> },
              ]
            : []),
          ...(job.refused === 0
            ? []
            : [
                {
                  id: 'refused',
                  label: `Refused (${job.refused.toLocaleString()})`,
                  content: <Refusals jobId={id} />,
                },
              ]),
          ...(job.left_out === 0
            ? []
            : [
                {
                  id: 'left-out',
                  label: `Left out (${job.left_out.toLocaleString()})`,
                  content: <LeftOut jobId={id} />,
                },
              ]),
        ]}
      />
    </Page>
  )
}

export const Screen = () => {
  const { id = '' } = useParams({ strict: false }) as { id?: string }
  return (
    <RecordPage name="Job" query={useQuery(jobQuery(id))}>
      {(job) => <JobPage job={job} />}
    </RecordPage>
  )
}
