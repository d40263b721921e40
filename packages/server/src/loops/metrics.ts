import { Counter, Gauge, type Registry } from '@scanfarm/platform'

export interface LoopMetrics {
  /** By `repair`: the problem that was found, or the action taken. */
  readonly repairs: Counter<'repair'>
  readonly reaperHeldBack: Gauge
}

export const countDispatched = (registry: Registry): Counter =>
  new Counter({
    name: 'scanfarm_dispatched_total',
    help: 'Runs that this process added to the queue.',
    registers: [registry],
  })

export const createLoopMetrics = (registry: Registry): LoopMetrics => ({
  repairs: new Counter({
    name: 'scanfarm_repairs_total',
    help: 'Runs and slots that this process repaired after a loss.',
    labelNames: ['repair'],
    registers: [registry],
  }),
  reaperHeldBack: new Gauge({
    name: 'scanfarm_reaper_held_back',
    help: '1 while no worker is declared lost, because many stopped responding at once or no master checked for a while.',
    registers: [registry],
  }),
})
