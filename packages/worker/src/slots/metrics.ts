import type { RefusalPlace, RunOutcome } from '@scanfarm/contracts'
import { Counter, Gauge, Histogram, type Registry } from '@scanfarm/platform'
import type { ExecutorOptions, ExecutorStatus } from './options.ts'

/** Slots of a worker, or slots of a server for local or cloud runs. */
export type SlotKind = 'worker' | 'local' | 'cloud'

const RUNS: Readonly<Record<SlotKind, string>> = {
  worker: 'Runs of this worker',
  local: 'Local runs of this server',
  cloud: 'Cloud runs of this server',
}

const REFUSED = 'scanfarm_targets_refused_total'

/** Counts refused targets by where they were refused. A server counts those of its requests and of its runs in one metric. */
export const countRefusals = (registry: Registry): ((place: RefusalPlace, targets?: number) => void) => {
  const known = registry.getSingleMetric(REFUSED)
  const counter =
    known instanceof Counter
      ? known
      : new Counter({
          name: REFUSED,
          help: 'Targets that this process refused, because they are out of scope or on the never-scan list',
          labelNames: ['place'],
          registers: [registry],
        })
  return (place, targets = 1) => counter.inc({ place }, targets)
}

const DURATION_BUCKETS = [0.01, 0.05, 0.1, 0.5, 1, 5, 30, 60, 300, 1800, 7200]

/** Metrics of one kind of slots; the answer counts runs that end. */
export const createSlotMetrics = (
  registry: Registry,
  kind: SlotKind,
  status: () => ExecutorStatus,
): Required<ExecutorOptions>['onRunEnded'] => {
  const registers = [registry]
  const runs = RUNS[kind]
  const ended = new Counter({
    name: `scanfarm_${kind}_runs_ended_total`,
    help: `${runs} that ended, by how they ended`,
    labelNames: ['ending'],
    registers,
  })
  const outcomes = new Counter({
    name: `scanfarm_${kind}_run_outcomes_total`,
    help: `${runs} that ended for good, by their outcome`,
    labelNames: ['outcome'],
    registers,
  })
  const gauge = (name: string, help: string, value: (status: ExecutorStatus) => number): void => {
    new Gauge({
      name: `scanfarm_${kind}_${name}`,
      help,
      registers,
      collect() {
        this.set(value(status()))
      },
    })
  }
  gauge('slots', `${runs} that may execute at the same time`, ({ slots }) => slots)
  gauge('busy', `${runs} that are executing`, ({ busy }) => busy)
  const seconds = kind === 'worker' ? workerSeconds(registers) : undefined
  if (kind === 'worker')
    gauge('silence_seconds', 'Time since the database last answered a heartbeat', ({ silenceMs }) =>
      Number.isFinite(silenceMs) ? silenceMs / 1000 : 0,
    )
  return (ending, duration, outcome?: RunOutcome) => {
    ended.inc({ ending })
    if (outcome !== undefined) outcomes.inc({ outcome })
    seconds?.observe(duration)
  }
}

const workerSeconds = (registers: Registry[]): Histogram =>
  new Histogram({
    name: 'scanfarm_worker_run_seconds',
    help: 'Time from the claim to the end of a run',
    buckets: DURATION_BUCKETS,
    registers,
  })
