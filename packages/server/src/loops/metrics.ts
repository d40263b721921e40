import { Counter, Gauge, type Registry } from '@scanfarm/platform'

export interface LoopMetrics {
  readonly dispatched: Counter
  /** By `repair`: what was wrong, or what was done about it. */
  readonly repairs: Counter<'repair'>
  readonly reaperHeldBack: Gauge
}

export const createLoopMetrics = (registry: Registry): LoopMetrics => ({
  dispatched: new Counter({
    name: 'scanfarm_dispatched_total',
    help: 'Runs that this process has put into the queue.',
    registers: [registry],
  }),
  repairs: new Counter({
    name: 'scanfarm_repairs_total',
    help: 'Runs and slots that this process has put right after a loss.',
    labelNames: ['repair'],
    registers: [registry],
  }),
  reaperHeldBack: new Gauge({
    name: 'scanfarm_reaper_held_back',
    help: '1 while no worker is given up, because many fell silent at once or nobody looked for a while.',
    registers: [registry],
  }),
})
