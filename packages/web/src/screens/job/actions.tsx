import { useAct } from '../../api/act.ts'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { cancelJob, changePriority, retryJob, type JobSummary } from '../../api/jobs.ts'
import { useRefusal } from '../../api/role.ts'
import {
  Commands,
  Confirm,
  Dialog,
  Form,
  FormActions,
  Opener,
  plural,
  SelectField,
  toast,
} from '../../ui/index.ts'

const PRIORITIES = ['critical', 'high', 'normal', 'low'] as const
type Priority = JobSummary['priority']

const ChangePriority = ({ job, onClose }: { job: JobSummary; onClose: () => void }) => {
  const change = useAct((priority: Priority) => changePriority(job.job_id, priority), {
    refresh: ['job'],
    done: ({ message }) => {
      toast(message)
      onClose()
    },
  })
  return (
    <Dialog open onClose={onClose} title="Priority of the waiting runs">
      <Form
        error={change.error}
        onSubmit={({ priority }) => change.mutate(PRIORITIES.find((each) => each === priority) ?? 'normal')}
      >
        <SelectField
          name="priority"
          label="Priority"
          hint="Waiting runs take their place in the queue by it. Running runs are not touched."
          defaultValue={job.priority}
          options={PRIORITIES}
        />
        <FormActions call={change} onBack={onClose} action="Change the priority" />
      </Form>
    </Dialog>
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
      {open ? (
        <Opener refusal={refusal} label="Priority">
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
