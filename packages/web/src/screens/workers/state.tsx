import type { Schemas } from '../../api/client.ts'
import { Badge, Duration, plural, Share, StatusBadge } from '../../ui/index.ts'

export type Worker = Schemas['Worker']

const TOOL = 'tool:'

export const STATES = ['busy', 'idle', 'pausing', 'paused', 'stopping', 'lost'] as const
type State = (typeof STATES)[number]

/** The status of the API with what an operator wants of the worker. */
export const stateOf = ({ status, wanted, busy_slots }: Worker): State => {
  if (status !== 'draining') return status
  if (wanted === 'paused') return busy_slots === 0 ? 'paused' : 'pausing'
  return 'stopping'
}

/** With the runs that a worker still has to finish. */
export const StateBadge = ({ worker }: { worker: Worker }) => {
  const state = stateOf(worker)
  const left = (state === 'pausing' || state === 'stopping') && worker.busy_slots > 0
  return <StatusBadge status={state} note={left ? `, ${plural(worker.busy_slots, 'run')} left` : ''} />
}

/** Slots in use: one cell each, or one bar if there are many. */
export const Slots = ({ worker: { slots, busy_slots } }: { worker: Worker }) => (
  <span className="slots">
    <Share value={busy_slots} of={slots} tone="busy" label={`${busy_slots} of ${slots} slots in use`} />
    <span className="number">
      {busy_slots}/{slots}
    </span>
  </span>
)

/** The age at this moment: the clock of the browser may differ from that of the farm. */
export const LeaseAge = ({ worker, readAt }: { worker: Worker; readAt: number }) => (
  <Duration from={new Date(readAt - worker.lease_age_ms).toISOString()} />
)

/** A server announces no tools, since its runs can be executed nowhere else. */
export const toolsOf = ({ kind, capabilities, tools }: Worker): readonly string[] =>
  kind === 'server'
    ? tools.map(({ name }) => name)
    : capabilities.filter((word) => word.startsWith(TOOL)).map((word) => word.slice(TOOL.length))

export const labelsOf = ({ capabilities }: Worker): readonly string[] =>
  capabilities.filter((word) => !word.startsWith(TOOL))

/** Whether the kernel of a worker keeps packets of commands within scopes; with the reason if it does not. */
export const Enforcement = ({ worker: { enforcement_gap: gap } }: { worker: Worker }) => {
  if (gap === null) return <span className="muted">not reported</span>
  return gap === '' ? <span>enforced</span> : <span title={gap}>checked, not enforced</span>
}

/** Marks a version that differs from that of the server. */
export const Version = ({ version, master }: { version: string; master: string | undefined }) =>
  master === undefined || version === master ? (
    <span>{version}</span>
  ) : (
    <span title={`The server has version ${master}`}>
      <Badge tone="warn">{version}</Badge>
    </span>
  )
