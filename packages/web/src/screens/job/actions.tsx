import { useAct } from '../../api/act.ts'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { cancelJob, changePriority, retryJob, type JobSummary } from '../../api/jobs.ts'
import { useRefusal } from '../../api/role.ts'
import { Button, Commands, Confirm, Dialog, ErrorPanel, SelectField, toast, plural } from '../../ui/index.ts'

const PRIORITIES = ['critical', 'high', 'normal', 'low'] as const
type Priority = JobSummary['priority']

const ChangePriority = ({ job }: { job: JobSummary }) => {
  const [open, setOpen] = useState(false)
  const [priority, setPriority] = useState<Priority>(job.priority)
  const refusal = useRefusal('operator')
  const change = useAct(() => changePriority(job.job_id, priority), {
    refresh: ['job'],
    done: ({ message }) => {
      toast(message)
      setOpen(false)
    },
  })
  return (
    <>
      <Button
        refusal={refusal}
        onClick={() => {
          setPriority(job.priority)
          change.reset()
          setOpen(true)
        }}
      >
        Priority
      </Button>
      <Dialog open={open} onClose={() => setOpen(false)} title="Priority of the waiting runs">
        <SelectField
          name="priority"
          label="Priority"
          hint="Waiting runs take their place in the queue by it. Running runs are not touched."
          value={priority}
          onChange={({ currentTarget: { value } }) =>
            setPriority(PRIORITIES.find((each) => each === value) ?? 'normal')
          }
          options={PRIORITIES}
        />
        {change.error ? <ErrorPanel error={change.error} /> : null}
        <div className="dialog-actions line">
          <Button onClick={() => setOpen(false)}>Back</Button>
          <Button kind="primary" busy={change.isPending} onClick={() => change.mutate()}>
            Change the priority
          </Button>
        </div>
      </Dialog>
    </>
  )
}

const Retry = ({ job: { job_id: id, counts } }: { job: JobSummary }) => {
  const navigate = useNavigate()
  const refusal = useRefusal('operator')
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
      refusal={refusal}
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

export const Actions = ({ job }: { job: JobSummary }) => {
  const refusal = useRefusal('operator')
  const id = job.job_id
  const open = job.status === 'open'
  return (
    <>
      <Commands
        lines={[
          { title: 'Read the job', cli: ['job', id], api: ['GET', `/jobs/${id}`] },
          ...(open
            ? [
                { title: 'Wait for its end', cli: ['job', id, '--wait'] },
                {
                  title: 'Cancel the job',
                  cli: ['cancel', id],
                  api: ['POST', `/jobs/${id}/cancel`] as const,
                },
                {
                  title: 'Change its priority',
                  cli: ['job', 'priority', id, 'high'],
                  api: ['PATCH', `/jobs/${id}`, { priority: 'high' }] as const,
                },
              ]
            : []),
          {
            title: 'Retry what failed or was cancelled',
            cli: ['job', 'retry', id],
            api: ['POST', `/jobs/${id}/retry`, {}],
          },
        ]}
      />
      {open ? <ChangePriority job={job} /> : null}
      <Retry job={job} />
      {open ? (
        <Confirm
          trigger="Cancel"
          title="Cancel this job?"
          action="Cancel the job"
          danger
          disabled={job.cancel_requested_at !== null}
          refusal={refusal}
          refresh={['job']}
          onConfirm={async () => {
            const { cancelled, stopping } = await cancelJob(id)
            return `${plural(cancelled, 'run')} cancelled, ${stopping.toLocaleString()} stopping.`
          }}
        >
          <p>Waiting runs do not start. The processes of running ones are terminated.</p>
        </Confirm>
      ) : null}
    </>
  )
}
