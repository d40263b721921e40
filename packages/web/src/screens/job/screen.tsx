import './job.css'
import { useState } from 'react'
import { jobQuery, type JobSummary } from '../../api/jobs.ts'
import { runsQuery, type RunFilters } from '../../api/runs.ts'
import {
  workflowLink,
  timeIf,
  jobLink,
  DataTable,
  KeyValues,
  Link,
  Page,
  recordScreen,
  ReportLink,
  Time,
  tab,
  UrlTabs,
  useList,
} from '../../ui/index.ts'
import { JobStatus } from '../jobs/columns.tsx'
import { BulkActions } from '../runs/bulk.tsx'
import { COLUMNS } from '../runs/columns.tsx'
import { Actions, commandsOf } from './actions.tsx'
import { Failures } from './failures.tsx'
import { Progress } from './progress.tsx'
import { LeftOut, Refusals } from './refusals.tsx'
import { Strip } from './strip.tsx'

const Runs = ({ jobId }: { jobId: string }) => {
  const [sort, setSort] = useState('')
  const filters = { job_id: jobId, ...(sort === '' ? {} : { sort }) } as RunFilters
  return (
    <DataTable
      label="Runs of the job"
      columns={COLUMNS.filter(({ id }) => id !== 'workflow')}
      list={useList(runsQuery(filters))}
      order={{ value: sort, onChange: setSort }}
      keyOf={({ run_uuid: uuid }) => uuid}
      hrefOf={({ run_uuid: uuid }) => `/runs/${uuid}`}
      bulk={(runs, clear) => <BulkActions runs={runs} clear={clear} />}
      none="No run yet"
      advice="The runs of this job are being created."
    />
  )
}

const Facts = ({ job }: { job: JobSummary }) => (
  <KeyValues
    facts={{
      Outcome: <JobStatus job={job} />,
      Workflow: workflowLink(job.workflow_name),
      Targets: job.target_count.toLocaleString(),
      Scope: job.scope === '' ? '' : <Link href="/scopes">{job.scope}</Link>,
      Priority: job.priority,
      Mode: job.run_mode,
      'At once': job.concurrency,
      'Started by': job.trigger_name === '' ? job.trigger_type : `${job.trigger_type} ${job.trigger_name}`,
      Created: <Time at={job.created_at} />,
      Findings:
        job.ended_at === null ? (
          ''
        ) : (
          <span>
            <Link href={`/changes?job=${job.job_id}`}>what changed</Link>
            {' · '}
            <ReportLink of="jobs" id={job.job_id} />
          </span>
        ),
      Ended: timeIf(job.ended_at),
      Cancelled: timeIf(job.cancel_requested_at),
      'Retry of': jobLink(job.retry_of),
      'Retried by':
        job.retries.length === 0
          ? ''
          : job.retries.map((id) => (
              <span key={id}>
                <Link href={`/jobs/${id}`}>{id}</Link>{' '}
              </span>
            )),
      Machines: job.infra_id === '' ? '' : <Link href="/cloud">{job.infra_id}</Link>,
    }}
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
      commands={commandsOf(job)}
      actions={<Actions job={job} />}
    >
      <Facts job={job} />
      {runs ? <Progress jobId={id} ended={ended} /> : null}
      <UrlTabs
        label="Parts of the job"
        tabs={[
          ...(runs
            ? [
                tab('targets', 'Targets', <Strip jobId={id} ended={ended} />),
                tab(
                  'failures',
                  `Failures${problems > 0 ? ` (${problems.toLocaleString()})` : ''}`,
                  <Failures jobId={id} ended={ended} />,
                ),
                tab('runs', 'Runs', <Runs jobId={id} />),
              ]
            : []),
          ...(job.refused === 0
            ? []
            : [tab('refused', `Refused (${job.refused.toLocaleString()})`, <Refusals jobId={id} />)]),
          ...(job.left_out === 0
            ? []
            : [tab('left-out', `Left out (${job.left_out.toLocaleString()})`, <LeftOut jobId={id} />)]),
        ]}
      />
    </Page>
  )
}

export const Screen = recordScreen('Job', jobQuery, (job) => <JobPage job={job} />)
