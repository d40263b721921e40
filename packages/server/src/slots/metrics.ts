import type { RunOutcome } from '@scanfarm/contracts'
import type { ExecutorStatus, RunEnding } from '@scanfarm/executor'
import { Counter, Gauge, type Registry } from '@scanfarm/platform'

export type SlotKind = 'local' | 'cloud'

export interface SlotMetrics {
  runEnded(ending: RunEnding, seconds: number, outcome?: RunOutcome): void
}

const WORDS: Readonly<Record<SlotKind, string>> = { local: 'Local runs', cloud: 'Cloud runs' }

export const createSlotMetrics = (
  registry: Registry,
  kind: SlotKind,
  status: () => ExecutorStatus,
): SlotMetrics => {
  const registers = [registry]
  const ended = new Counter({
    name: `scanfarm_${kind}_runs_ended_total`,
    help: `${WORDS[kind]} that ended on this server, by how they ended`,
    labelNames: ['ending'],
    registers,
  })
  const outcomes = new Counter({
    name: `scanfarm_${kind}_run_outcomes_total`,
    help: `${WORDS[kind]} that ended on this server for good, by their outcome`,
    labelNames: ['outcome'],
    registers,
  })
  new Gauge({
    name: `scanfarm_${kind}_slots`,
    help: `${WORDS[kind]} that this server executes at once`,
    registers,
    collect() {
      this.set(status().slots)
    },
  })
  new Gauge({
    name: `scanfarm_${kind}_busy`,
    help: `${WORDS[kind]} that are under way on this server`,
    registers,
    collect() {
      this.set(status().busy)
    },
  })
  return {
    runEnded(ending, _seconds, outcome) {
      ended.inc({ ending })
      if (outcome !== undefined) outcomes.inc({ outcome })
    },
  }
}
