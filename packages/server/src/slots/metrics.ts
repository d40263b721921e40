import type { ExecutorStatus, RunEnding } from '@scanfarm/executor'
import { Counter, Gauge, type Registry } from '@scanfarm/platform'

export type SlotKind = 'local' | 'cloud'

export interface SlotMetrics {
  runEnded(ending: RunEnding): void
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
  return { runEnded: (ending) => ended.inc({ ending }) }
}
