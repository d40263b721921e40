import type { Logger } from '@scanfarm/platform'
import type { Store } from '@scanfarm/store'
import { ownerMs } from '../../cancel/owner-time.ts'
import type { LoopMetrics } from '../metrics.ts'

export interface CancelParts {
  readonly recovery: Pick<Store['recovery'], 'forceStaleCancels'>
  readonly cancelGraceMs: number
  readonly metrics: LoopMetrics
  readonly log: Logger
}

/** Ends runs whose worker does not answer a cancel request; the fence refuses what it still writes. */
export const forceCancels = async ({ recovery, cancelGraceMs, metrics, log }: CancelParts): Promise<void> => {
  const forced = await recovery.forceStaleCancels(ownerMs(cancelGraceMs))
  if (forced > 0) log.warn('runs were cancelled without an answer of their workers', { forced })
  metrics.repairs.inc({ repair: 'cancel_forced' }, forced)
}
