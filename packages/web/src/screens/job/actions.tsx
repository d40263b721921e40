import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { answer, api } from '../../api/client.ts'
import { pathOf, retryJob, type JobSummary } from '../../api/jobs.ts'
import { type CommandLine, choice, FormDialog, Confirm, Opener, plural } from '../../ui/index.ts'

const PRIORITIES = ['critical', 'high', 'normal', 'low'] as const

const ChangePriority = ({ job, onClose }: { job: JobSummary; onClose: () => void }) => (
  <FormDialog
    onClose={onClose}
    title="Priority of the waiting runs"
    fields={[
      [
        choice('priority', 'Priority', PRIORITIES, {
          hint: 'Waiting runs take their place in the queue by it. Running runs are not touched.',
        }),
      ],
    ]}
    values={{ priority: job.priority }}
    action="Change the priority"
    refresh={['job']}
    send={({ priority: wanted }) => {
      const priority = PRIORITIES.find((each) => each === wanted) ?? 'normal'
      return answer(api.PATCH('/jobs/{job_id}', { ...pathOf(job.job_id), body: { priority } }))
    }}
  />
)

const Retry = ({ job: { job_id: id, counts } }: { job: JobSummary }) => {
  const navigate = useNavigate()
  const [incomplete, setIncomplete] = useState(false)
  const stopped = (counts?.failed ?? 0) + (counts?.cancelled ?? 0)
  const without = (counts?.completed ?? 0) - (counts?.clean ?? 0)
  if (stopped + without === 0) return null
  const body =
    incomplete || stopped === 0
      ? {
          statuses: ['failed' as const, 'cancelled' as const],
          outcomes: ['partial' as const, 'nothing_done' as const],
        }
      : {}
  return (
    <Confirm
      trigger="Retry what failed"
      title="Retry what failed?"
      action="Retry"
      needs="operator"
      onConfirm={async () => {
        const { message, job_id: made } = await retryJob(id, body)
        void navigate({ href: `/jobs/${made}` })
        return `${message}.`
      }}
    >
      <p>
        A new job repeats the targets whose latest run failed or was cancelled
        {stopped > 0 ? ` (${stopped.toLocaleString()} in this job)` : ''}. This job stays as it is.
      </p>
      {without > 0 && stopped > 0 ? (
        <label className="check">
          <input
            type="checkbox"
            checked={incomplete}
            onChange={(event) => setIncomplete(event.currentTarget.checked)}
          />
          Also the {without.toLocaleString()} that left work out
        </label>
      ) : null}
    </Confirm>
  )
}

export const commandsOf = ({ job_id: id, status }: JobSummary): readonly CommandLine[] => {
  const ofOpen: readonly CommandLine[] = [
    { title: 'Wait for its end', cli: ['job', id, '--wait'] },
    { title: 'Cancel the job', cli: ['cancel', id], api: ['POST', `/jobs/${id}/cancel`] },
    {
      title: 'Change its priority',
      cli: ['job', 'priority', id, 'high'],
      api: ['PATCH', `/jobs/${id}`, { priority: 'high' }],
    },
  ]
  return [
    { title: 'Read the job', cli: ['job', id], api: ['GET', `/jobs/${id}`] },
    ...(status === 'open' ? ofOpen : []),
    {
      title: 'Retry what failed or was cancelled',
      cli: ['job', 'retry', id],
      api: ['POST', `/jobs/${id}/retry`, {}],
    },
  ]
}

export const Actions = ({ job }: { job: JobSummary }) => {
  const id = job.job_id
  const open = job.status === 'open'
  return (
    <>
      {open ? (
        <Opener needs="operator" label="Priority">
          {(close) => <ChangePriority job={job} onClose={close} />}
        </Opener>
      ) : null}
      <Retry job={job} />
      {open ? (
        <Confirm
          trigger="Cancel"
          title="Cancel this job?"
          action="Cancel the job"
          danger
          disabled={job.cancel_requested_at !== null}
          needs="operator"
          refresh={['job']}
          onConfirm={async () => {
            const { cancelled, stopping } = await answer(api.POST('/jobs/{job_id}/cancel', pathOf(id)))
            return `${plural(cancelled, 'run')} cancelled, ${stopping.toLocaleString()} stopping.`
          }}
          text="Waiting runs do not start. The processes of running ones are terminated."
        />
      ) : null}
    </>
  )
}
