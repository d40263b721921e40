import { memo } from 'react'
import type { Schemas } from '../../api/client.ts'
import { Duration, StatusBadge, useNow } from '../../ui/index.ts'

type Step = Schemas['Step']

interface Span {
  readonly step: Step
  readonly start: number
  /** Undefined: the step runs. */
  readonly end: number | undefined
}

const TONES: Readonly<Record<string, string>> = {
  completed: 'good',
  failed: 'bad',
  running: 'busy',
  cancelled: 'off',
}

const spanOf = (step: Step): Span => {
  const start = Date.parse(step.started_at ?? step.created_at)
  const runs = step.status === 'running'
  return { step, start, end: runs ? undefined : start + step.duration_ms }
}

const TICKS = [0, 0.25, 0.5, 0.75, 1]

interface LaneProps {
  readonly span: Span
  readonly first: number
  readonly last: number
  readonly selected: boolean
  readonly onSelect: (id: string) => void
}

const Lane = memo(({ span: { step, start, end }, first, last, selected, onSelect }: LaneProps) => {
  const length = last - first
  const left = ((start - first) / length) * 100
  const width = (((end ?? last) - start) / length) * 100
  const waited = ((start - first) / 1000).toFixed(1)
  return (
    <li>
      <button
        type="button"
        className="bare lane"
        aria-pressed={selected}
        title={`${step.step_name} · ${step.status} · starts after ${waited} s${step.exit_code === null ? '' : ` · exit code ${step.exit_code}`}\n${step.command.slice(0, 400)}`}
        onClick={() => onSelect(step.id)}
      >
        <span className="clip">
          {step.module === '' ? null : <span className="muted">{step.module} / </span>}
          {step.step_name}
        </span>
        <StatusBadge status={step.status} />
        <span className={`lane-track tone-${TONES[step.status] ?? 'wait'}`}>
          <span
            className={end === undefined ? 'lane-bar lane-bar-open' : 'lane-bar'}
            style={{ left: `${Math.min(left, 99.5)}%`, width: `${Math.max(0, width)}%` }}
          />
        </span>
        {end === undefined ? (
          <Duration from={step.started_at ?? step.created_at} />
        ) : (
          <Duration ms={step.duration_ms} />
        )}
      </button>
    </li>
  )
})
Lane.displayName = 'Lane'

interface TimelineProps {
  readonly steps: readonly Step[]
  readonly selected: string
  readonly onSelect: (id: string) => void
}

/** A lane for each step on one axis of time: steps that ran at the same time lie below each other. */
export const Timeline = ({ steps, selected, onSelect }: TimelineProps) => {
  const spans = steps.map(spanOf)
  const now = useNow(spans.some(({ end }) => end === undefined))
  const first = Math.min(...spans.map(({ start }) => start))
  const last = Math.max(first + 1, ...spans.map(({ end }) => end ?? now))
  return (
    <div className="panel timeline">
      <div className="lane caption" aria-hidden="true">
        <span />
        <span />
        <span className="lane-ticks">
          {TICKS.map((part) => (
            <span key={part}>
              <Duration ms={(last - first) * part} />
            </span>
          ))}
        </span>
        <span />
      </div>
      <ul className="list lanes" aria-label="Steps by time">
        {spans.map((span) => (
          <Lane
            key={span.step.id}
            span={span}
            first={first}
            last={last}
            selected={span.step.id === selected}
            onSelect={onSelect}
          />
        ))}
      </ul>
    </div>
  )
}
