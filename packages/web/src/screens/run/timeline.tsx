import type { Schemas } from '../../api/client.ts'
import { Duration, StatusBadge } from '../../ui/index.ts'

type Step = Schemas['Step']

const TONES: Readonly<Record<string, string>> = {
  completed: 'good',
  failed: 'bad',
  running: 'busy',
  cancelled: 'off',
}

/** Bars on one axis of time, from the first start to the last end. */
export const Timeline = ({ steps }: { steps: readonly Step[] }) => {
  const spans = steps.map((step) => {
    const start = Date.parse(step.started_at ?? step.created_at)
    return { step, start, end: start + step.duration_ms }
  })
  const first = Math.min(...spans.map(({ start }) => start))
  const length = Math.max(1, Math.max(...spans.map(({ end }) => end)) - first)
  return (
    <div className="timeline">
      {spans.map(({ step, start, end }) => (
        <div key={step.id}>
          <span title={step.command}>
            {step.module === '' ? '' : <span className="muted">{step.module} / </span>}
            {step.step_name}
          </span>
          <StatusBadge status={step.status} />
          <span className={`timeline-track tone-${TONES[step.status] ?? 'wait'}`}>
            <span
              className="timeline-bar"
              style={{
                left: `${((start - first) / length) * 100}%`,
                width: `${((end - start) / length) * 100}%`,
              }}
            />
          </span>
          <Duration ms={step.duration_ms} />
        </div>
      ))}
    </div>
  )
}
