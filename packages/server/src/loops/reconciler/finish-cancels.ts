import type { Logger } from '@scanfarm/platform'
import type { Store } from '@scanfarm/store'
import type { LoopMetrics } from '../metrics.ts'

export interface FinishParts {
  readonly jobs: Pick<Store['jobs'], 'finishCancel'>
  readonly metrics: LoopMetrics
  readonly log: Logger
}

/**
 * Goes on with the cancel of a job whose master was lost in the middle of it; workers find the requests by their
 * heartbeats. True when there may be more such jobs.
 */
export const finishCancels = async ({ jobs, metrics, log }: FinishParts): Promise<boolean> => {
  const job = await jobs.finishCancel()
  if (job === undefined) return false
  const { jobId, cancelled, requested } = job
  const found = cancelled + requested.length
  if (found > 0)
    log.warn('the unfinished cancel of a job was finished', {
      job_id: jobId,
      cancelled,
      stopping: requested.length,
    })
  metrics.repairs.inc({ repair: 'cancel_finished' }, found)
  return true
}
