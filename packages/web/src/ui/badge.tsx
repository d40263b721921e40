import type { ReactNode } from 'react'

export type Tone = 'good' | 'bad' | 'warn' | 'busy' | 'wait' | 'off'

/** A tone has a shape, too, for those who do not see its colour. */
const SHAPES: Readonly<Record<Tone, string>> = {
  good: '●',
  bad: '■',
  warn: '▲',
  busy: '◐',
  wait: '○',
  off: '⊘',
}

export const Badge = ({ tone, children }: { tone: Tone; children: ReactNode }) => (
  <span className={`badge tone-${tone}`}>
    <span aria-hidden="true" className="badge-shape">
      {SHAPES[tone]}
    </span>
    {children}
  </span>
)

const STATUS_TONES: Readonly<Record<string, Tone>> = {
  completed: 'good',
  active: 'good',
  live: 'good',
  delivered: 'good',
  failed: 'bad',
  lost: 'bad',
  dead: 'bad',
  running: 'busy',
  draining: 'warn',
  pending: 'wait',
  queued: 'wait',
}

/** Of a run, a step, a job, a worker or a delivery. */
export const StatusBadge = ({ status }: { status: string }) => (
  <Badge tone={STATUS_TONES[status] ?? 'off'}>{status}</Badge>
)

const OUTCOMES: Readonly<Record<string, readonly [Tone, string]>> = {
  clean: ['good', 'clean'],
  partial: ['warn', 'partial'],
  nothing_done: ['bad', 'nothing done'],
}

export const OutcomeBadge = ({ outcome }: { outcome: string }) => {
  const [tone, text] = OUTCOMES[outcome] ?? []
  return tone ? <Badge tone={tone}>{text}</Badge> : <span className="muted">–</span>
}

const LETTERS: Readonly<Record<string, string>> = {
  critical: 'C',
  high: 'H',
  medium: 'M',
  low: 'L',
  info: 'I',
}

export const Severity = ({ severity }: { severity: string }) => (
  <span className={`severity severity-${severity in LETTERS ? severity : 'info'}`}>
    <span aria-hidden="true" className="severity-letter">
      {LETTERS[severity] ?? '?'}
    </span>
    {severity}
  </span>
)
