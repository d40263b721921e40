import type { ExecutorStatus, RunEnding } from '@scanfarm/executor'
import { Counter, Gauge, type Registry } from '@scanfarm/platform'

export interface LocalMetrics {
  runEnded(ending: RunEnding): void
}

export const createLocalMetrics = (registry: Registry, status: () => ExecutorStatus): LocalMetrics => {
  const registers = [registry]
  const ended = new Counter({
    name: 'scanfarm_local_runs_ended_total',
    help: 'Local runs that ended on this server, by how they ended',
    labelNames: ['ending'],
    registers,
  })
  new Gauge({
    name: 'scanfarm_local_slots',
    help: 'Local runs that this server executes at once',
    registers,
    collect() {
      this.set(status().slots)
    },
  })
  new Gauge({
    name: 'scanfarm_local_busy',
    help: 'Local runs that are under way on this server',
    registers,
    collect() {
      this.set(status().busy)
    },
  })
  return { runEnded: (ending) => ended.inc({ ending }) }
}
