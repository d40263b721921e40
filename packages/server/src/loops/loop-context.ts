import type { Logger, Registry } from '@scanfarm/platform'
import type { RunQueue } from '@scanfarm/queue'
import type { Store } from '@scanfarm/store'
import type { Config } from '../settings.ts'
import type { Dispatcher } from './dispatcher.ts'
import type { LoopMetrics } from './metrics.ts'

/** What the loops of a server use. */
export interface LoopContext {
  readonly store: Store
  /** Only on a master; other servers have nothing to dispatch. */
  readonly queue: RunQueue | undefined
  readonly dispatcher: Dispatcher | undefined
  readonly log: Logger
  readonly metrics: Registry
  readonly config: {
    readonly worker: Pick<Config['worker'], 'leaseMs'>
    readonly runs: Pick<Config['runs'], 'maxAttempts' | 'cancelGraceMs'>
  }
}

/** The same for turns that repair what a crash left. */
export interface RecoveryParts extends Pick<LoopContext, 'queue' | 'config' | 'log'> {
  readonly store: Pick<Store, 'recovery' | 'jobs'>
  readonly metrics: LoopMetrics
}
