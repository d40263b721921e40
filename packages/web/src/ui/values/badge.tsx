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
  <span className={`inline badge tone-${tone}`}>
    <span aria-hidden="true" className="badge-shape">
      {SHAPES[tone]}
    </span>
    {children}
  </span>
)

const STATUS_TONES: Readonly<Record<string, Tone>> = {
  busy: 'busy',
  idle: 'good',
  ready: 'good',
  completed: 'good',
  active: 'good',
  live: 'good',
  delivered: 'good',
  failed: 'bad',
  lost: 'bad',
  dead: 'bad',
  running: 'busy',
  provisioning: 'busy',
  booting: 'busy',
  draining: 'warn',
  destroying: 'warn',
  pausing: 'warn',
  stopping: 'warn',
  requested: 'wait',
  pending: 'wait',
  queued: 'wait',
}

/** Of a run, a step, a job, a worker, a machine or a delivery; `note` is shown behind it. */
export const StatusBadge = ({ status, note = '' }: { status: string; note?: string }) => (
  <Badge tone={STATUS_TONES[status] ?? 'off'}>
    {status}
    {note}
  </Badge>
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

export const SEVERITY_TONES = {
  critical: 'bad',
  high: 'bad',
  medium: 'warn',
  low: 'busy',
  info: 'wait',
} as const

const isSeverity = (text: string): text is keyof typeof SEVERITY_TONES => Object.hasOwn(SEVERITY_TONES, text)

export const Severity = ({ severity }: { severity: string }) => (
  <span className={`inline severity tone-${isSeverity(severity) ? SEVERITY_TONES[severity] : 'wait'}`}>
    <span aria-hidden="true" className="severity-letter">
      {isSeverity(severity) ? severity.charAt(0).toUpperCase() : '?'}
    </span>
    {severity}
  </span>
)
