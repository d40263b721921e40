import type { Logger } from '@scanfarm/platform'
import type { Store } from '@scanfarm/store'
import type { LoopMetrics } from '../metrics.ts'

/** Jobs and rows looked after in one turn. */
const REPAIR_LIMIT = 1_000

export interface SlotParts {
  readonly recovery: Pick<Store['recovery'], 'recountSlots'>
  readonly metrics: LoopMetrics
  readonly log: Logger
}

/** Slots are freed in the transaction that ends a run; a difference is a mistake somewhere, so it is logged. */
export const repairSlots = async ({ recovery, metrics, log }: SlotParts): Promise<boolean> => {
  const repairs = await recovery.recountSlots(REPAIR_LIMIT)
  if (repairs > 0) log.warn('slots of jobs were counted wrong and are right again', { repairs })
  metrics.repairs.inc({ repair: 'slots' }, repairs)
  return repairs >= REPAIR_LIMIT
}
