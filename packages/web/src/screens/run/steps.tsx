import { useQuery } from '@tanstack/react-query'
import type { RunDetail } from '@scanfarm/client'
import type { Schemas } from '../../api/client.ts'
import { stepsQuery } from '../../api/runs.ts'
import {
  Loaded,
  Code,
  CopyButton,
  Duration,
  EmptyState,
  KeyValues,
  Link,
  PlainTable,
  StatusBadge,
  Time,
  useFilters,
} from '../../ui/index.ts'
import { Log } from './log.tsx'
import { Timeline } from './timeline.tsx'

type Step = Schemas['Step']

/** What the user wants to see first: what runs, else what failed last, else the last step. */
const firstChoice = (steps: readonly Step[]): Step | undefined =>
  steps.find(({ status }) => status === 'running') ??
  steps.findLast(({ status }) => status === 'failed') ??
  steps.at(-1)

const Exports = ({ values }: { values: Readonly<Record<string, string>> }) => {
  const entries = Object.entries(values)
  if (entries.length === 0) return null
  return (
    <details className="fold" open={entries.length <= 4}>
      <summary>
        Exports <span className="muted">({entries.length})</span>
      </summary>
      <PlainTable
        rows={entries.map(([name, value]) => [
          <code key="name">{name}</code>,
          <code key="value" className="export">
            {value}
          </code>,
        ])}
      />
    </details>
  )
}

const StepDetails = ({ run, step }: { run: RunDetail; step: Step }) => {
  const runs = step.status === 'running' || step.status === 'pending'
  return (
    <section className="stack" aria-label={`Step ${step.step_name}`}>
      <header className="line wrap">
        <h2>{step.step_name}</h2>
        <StatusBadge status={step.status} />
        <span className="muted">
          {step.step_type}
          {step.module === '' ? '' : ` in ${step.module}`}
        </span>
      </header>
      {step.error_message === '' ? null : <p className="tone-bad">■ {step.error_message}</p>}
      <KeyValues
        facts={{
          Started: <Time at={step.started_at} />,
          Took: runs ? <Duration from={step.started_at} /> : <Duration ms={step.duration_ms} />,
          'Exit code': step.exit_code,
          Attempt: step.attempt,
          'Executed by':
            step.taken_from === null
              ? ''
              : `attempt ${step.taken_from.attempt}${step.taken_from.run_uuid === run.run_uuid ? '' : ` of run ${step.taken_from.run_uuid}`}`,
          Items:
            step.items_job_id === '' ? (
              ''
            ) : (
              <Link href={`/runs?job_id=${step.items_job_id}`}>Runs of its batches</Link>
            ),
        }}
      />
      {step.command === '' ? null : (
        <details className="fold" open={step.command.length < 600}>
          <summary>Command</summary>
          <CopyButton text={step.command} label="the command" />
          <Code label={`Command of ${step.step_name}`}>{step.command}</Code>
        </details>
      )}
      <Exports values={step.exports} />
      <Log
        key={step.id}
        run={run.run_uuid}
        step={step.id}
        attempt={step.attempt}
        grows={runs && run.completed_at === null}
        label={`Output of ${step.step_name}`}
        file={`run-${run.id}-${step.step_name.replaceAll(/[^\w.-]/g, '_')}.log`}
      />
    </section>
  )
}

export const Steps = ({ run }: { run: RunDetail }) => {
  const [{ step: chosen = '' }, set] = useFilters(['step'])
  return (
    <Loaded query={useQuery(stepsQuery(run.run_uuid, run.completed_at !== null))} lines={3}>
      {(steps) => {
        const step = steps.find(({ id }) => id === chosen) ?? firstChoice(steps)
        return step ? (
          <div className="stack">
            <Timeline steps={steps} selected={step.id} onSelect={(id) => set({ step: id })} />
            <StepDetails run={run} step={step} />
          </div>
        ) : (
          <EmptyState title="No step has started yet">
            {run.waiting_reason || 'Steps appear here when a worker begins the run.'}
          </EmptyState>
        )
      }}
    </Loaded>
  )
}
