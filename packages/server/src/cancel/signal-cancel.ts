import type { ServerContext } from '../context.ts'

/**
 * Tells the owners of running runs at once that they are to stop. The database has the request already, so a signal
 * that is lost only costs the time until the owner looks there.
 */
export async function signalCancel(
  { queue, localCancels, log }: Pick<ServerContext, 'queue' | 'localCancels' | 'log'>,
  runIds: readonly number[],
): Promise<void> {
  if (runIds.length === 0) return
  localCancels.cancel(runIds)
  try {
    await queue?.publishCancel(runIds.map((runId) => ({ runId })))
  } catch (error) {
    log.warn('a cancel could not be signalled; the owner will find it in the database', { error })
  }
}
