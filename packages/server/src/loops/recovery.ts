import type { Logger } from '@scanfarm/platform'
import type { RunQueue } from '@scanfarm/queue'
import type { Store } from '@scanfarm/store'
import { cancelDeadlineMs } from '../cancel.ts'
import { VoidMessageRemover } from '../void-messages.ts'
import type { LoopMetrics } from './metrics.ts'

/** Runs requeued, or ended, in one statement. */
const REAP_LIMIT = 1_000

export interface ReapParts {
  readonly recovery: Pick<Store['recovery'], 'reapOnce'>
  readonly maxAttempts: number
  readonly leaseMs: number
  readonly metrics: LoopMetrics
  readonly log: Logger
}

/** Requeues or ends the runs of workers whose lease has expired. Returns true if there may be more. */
export const reapOnce = async (parts: ReapParts): Promise<boolean> => {
  const { maxAttempts, leaseMs, metrics, log } = parts
  const { heldBack, ...taken } = await parts.recovery.reapOnce({
    maxAttempts,
    quarantineAfter: Math.max(1, maxAttempts - 1),
    leaseMs,
    limit: REAP_LIMIT,
  })
  metrics.reaperHeldBack.set(heldBack === '' ? 0 : 1)
  if (heldBack === 'mass')
    log.warn('many workers stopped responding at once: they keep their runs for another lease')
  const count = taken.requeued + taken.failed + taken.cancelled
  if (count > 0) log.warn('runs of lost workers were requeued or ended', taken)
  metrics.repairs.inc({ repair: 'requeued' }, taken.requeued)
  metrics.repairs.inc({ repair: 'given_up' }, taken.failed)
  metrics.repairs.inc({ repair: 'cancelled' }, taken.cancelled)
  return count >= REAP_LIMIT
}

export interface CancelParts {
  readonly recovery: Pick<Store['recovery'], 'forceStaleCancels'>
  readonly cancelGraceMs: number
  readonly metrics: LoopMetrics
  readonly log: Logger
}

/** Ends runs whose worker ignores a cancel request, and fences its later writes. True if there may be more. */
export const forceCancels = async ({
  recovery,
  cancelGraceMs,
  metrics,
  log,
}: CancelParts): Promise<boolean> => {
  const forced = await recovery.forceStaleCancels(cancelDeadlineMs(cancelGraceMs), REAP_LIMIT)
  if (forced > 0) log.warn('runs were cancelled because their workers did not answer', { forced })
  metrics.repairs.inc({ repair: 'cancel_forced' }, forced)
  return forced >= REAP_LIMIT
}

export interface FinishParts {
  readonly jobs: Pick<Store['jobs'], 'finishCancel'>
  readonly metrics: LoopMetrics
  readonly log: Logger
}

/**
 * Finishes the cancel of a large job, or of one whose master died before it was complete; workers read the requests with
 * their heartbeats. Returns true if there may be more such jobs.
 */
export const finishCancels = async ({ jobs, metrics, log }: FinishParts): Promise<boolean> => {
  const job = await jobs.finishCancel()
  if (job === undefined) return false
  const { jobId, interrupted, cancelled, requested } = job
  if (!interrupted) return true
  const found = cancelled + requested.length
  if (found > 0)
    log.warn('the interrupted cancel of a job was finished', {
      job_id: jobId,
      cancelled,
      stopping: requested.length,
    })
  metrics.repairs.inc({ repair: 'cancel_finished' }, found)
  return true
}

export interface PriorityParts {
  readonly jobs: Pick<Store['jobs'], 'finishPriority'>
  readonly queue: Pick<RunQueue, 'remove'> | undefined
  readonly metrics: LoopMetrics
  readonly log: Logger
}

/** Changes the priority of the runs of a large job, or of one whose master died. Returns true if there may be more. */
export const finishPriorities = async ({ jobs, queue, metrics, log }: PriorityParts): Promise<boolean> => {
  const messages = new VoidMessageRemover(queue, log)
  const job = await jobs.finishPriority(messages.remove)
  await messages.finish()
  if (job === undefined) return false
  if (!job.interrupted) return true
  log.warn('the interrupted change of the priority of a job was finished', {
    job_id: job.jobId,
    changed: job.changed,
  })
  metrics.repairs.inc({ repair: 'priority_finished' }, job.changed)
  return true
}

/** Jobs and rows checked in one turn. */
const REPAIR_LIMIT = 1_000

export interface SlotParts {
  readonly recovery: Pick<Store['recovery'], 'recountSlots'>
  readonly metrics: LoopMetrics
  readonly log: Logger
}

/** Slots are freed in the transaction that ends a run, so a difference is a bug and is logged. */
export const repairSlots = async ({ recovery, metrics, log }: SlotParts): Promise<boolean> => {
  const repairs = await recovery.recountSlots(REPAIR_LIMIT)
  if (repairs > 0) log.warn('wrong slot counts of jobs were corrected', { repairs })
  metrics.repairs.inc({ repair: 'slots' }, repairs)
  return repairs >= REPAIR_LIMIT
}
