import type { Logger } from '@scanfarm/platform'
import type { Store } from '@scanfarm/store'
import type { LoopMetrics } from '../metrics.ts'

/** Runs taken back in one statement. */
const REAP_LIMIT = 1_000

export interface ReapParts {
  readonly recovery: Pick<Store['recovery'], 'reapOnce'>
  readonly maxAttempts: number
  readonly quarantineAfter: number
  readonly leaseMs: number
  readonly metrics: LoopMetrics
  readonly log: Logger
}

/** Takes back the runs of workers whose lease ended. True when there may be more of them. */
export const reapOnce = async (parts: ReapParts): Promise<boolean> => {
  const { maxAttempts, quarantineAfter, leaseMs, metrics, log } = parts
  const { heldBack, ...taken } = await parts.recovery.reapOnce({
    maxAttempts,
    quarantineAfter,
    leaseMs,
    limit: REAP_LIMIT,
  })
  metrics.reaperHeldBack.set(heldBack === '' ? 0 : 1)
  if (heldBack === 'mass')
    log.warn('many workers fell silent at once: their runs are left to them for another lease')
  const count = taken.requeued + taken.failed + taken.cancelled
  if (count > 0) log.warn('runs of lost workers were taken back', taken)
  metrics.repairs.inc({ repair: 'requeued' }, taken.requeued)
  metrics.repairs.inc({ repair: 'given_up' }, taken.failed)
  metrics.repairs.inc({ repair: 'cancelled' }, taken.cancelled)
  return count >= REAP_LIMIT
}
