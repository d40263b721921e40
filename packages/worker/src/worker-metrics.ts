import { Counter, createMetrics, Gauge, Histogram, type Registry } from '@scanfarm/platform'
import type { RunOutcome } from '@scanfarm/contracts'
import type { ExecutorStatus, RunEnding } from '@scanfarm/executor'

export interface WorkerMetrics {
  readonly registry: Registry
  runEnded(ending: RunEnding, seconds: number, outcome?: RunOutcome): void
}

const DURATION_BUCKETS = [0.01, 0.05, 0.1, 0.5, 1, 5, 30, 60, 300, 1800, 7200]

export function createWorkerMetrics(status: () => ExecutorStatus | undefined): WorkerMetrics {
  const registry = createMetrics()
  const registers = [registry]
  const ended = new Counter({
    name: 'scanfarm_worker_runs_ended_total',
    help: 'Runs that ended here, by how they ended',
    labelNames: ['ending'],
    registers,
  })
  const outcomes = new Counter({
    name: 'scanfarm_worker_run_outcomes_total',
    help: 'Runs that ended here for good, by their outcome',
    labelNames: ['outcome'],
    registers,
  })
  const seconds = new Histogram({
    name: 'scanfarm_worker_run_seconds',
    help: 'Time from claim to end of a run',
    buckets: DURATION_BUCKETS,
    registers,
  })
  const gauge = (name: string, help: string, value: (status: ExecutorStatus) => number): void => {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        const now = status()
        if (now !== undefined) this.set(value(now))
      },
    })
  }
  gauge('scanfarm_worker_slots', 'Runs that may be under way at once', ({ slots }) => slots)
  gauge('scanfarm_worker_busy', 'Runs that are under way', ({ busy }) => busy)
  gauge(
    'scanfarm_worker_silence_seconds',
    'Time since the database last answered a heartbeat',
    ({ silenceMs }) => (Number.isFinite(silenceMs) ? silenceMs / 1000 : 0),
  )
  return {
    registry,
    runEnded(ending, duration, outcome) {
      ended.inc({ ending })
      if (outcome !== undefined) outcomes.inc({ outcome })
      seconds.observe(duration)
    },
  }
}
