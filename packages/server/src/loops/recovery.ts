import { PRIORITIES } from '@scanfarm/contracts'
import { cancelDeadlineMs } from '../cancel.ts'
import { VoidMessageRemover } from '../void-messages.ts'
import type { RecoveryParts } from './loop-context.ts'

/** Runs requeued, or ended, in one statement. */
const REAP_LIMIT = 1_000

/** Requeues or ends the runs of workers whose lease has expired. Returns true if there may be more. */
export const reapOnce = async ({ store, config, metrics, log }: RecoveryParts): Promise<boolean> => {
  const { maxAttempts } = config.runs
  const { heldBack, ...taken } = await store.recovery.reapOnce({
    maxAttempts,
    quarantineAfter: Math.max(1, maxAttempts - 1),
    leaseMs: config.worker.leaseMs,
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

/** Ends runs whose worker ignores a cancel request, and fences its later writes. True if there may be more. */
export const forceCancels = async ({ store, config, metrics, log }: RecoveryParts): Promise<boolean> => {
  const deadlineMs = cancelDeadlineMs(config.runs.cancelGraceMs)
  const forced = await store.recovery.forceStaleCancels(deadlineMs, REAP_LIMIT)
  if (forced > 0) log.warn('runs were cancelled because their workers did not answer', { forced })
  metrics.repairs.inc({ repair: 'cancel_forced' }, forced)
  return forced >= REAP_LIMIT
}

/**
 * Finishes the cancel of a large job, or of one whose master died before it was complete; workers read the requests with
 * their heartbeats. Returns true if there may be more such jobs.
 */
export const finishCancels = async ({ store, queue, metrics, log }: RecoveryParts): Promise<boolean> => {
  const job = await store.jobs.finishCancel()
  if (job === undefined) return false
  const { jobId, interrupted, waiting, cancelled, requested } = job
  // Again: messages may have been sent during the cancel.
  const messages = new VoidMessageRemover(queue, log)
  messages.forget(waiting)
  await messages.finish()
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

/** Changes the priority of the runs of a large job, or of one whose master died. Returns true if there may be more. */
export const finishPriorities = async ({ store, queue, metrics, log }: RecoveryParts): Promise<boolean> => {
  const messages = new VoidMessageRemover(queue, log)
  const job = await store.jobs.finishPriority(messages.remove)
  messages.forget(
    job?.waiting,
    PRIORITIES.filter((priority) => priority !== job?.waiting?.priority),
  )
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

/** Slots are freed in the transaction that ends a run, so a difference is a bug and is logged. */
export const repairSlots = async ({ store, metrics, log }: RecoveryParts): Promise<boolean> => {
  const repairs = await store.recovery.recountSlots(REPAIR_LIMIT)
  if (repairs > 0) log.warn('wrong slot counts of jobs were corrected', { repairs })
  metrics.repairs.inc({ repair: 'slots' }, repairs)
  return repairs >= REPAIR_LIMIT
}
