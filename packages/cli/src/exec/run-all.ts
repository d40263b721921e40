import type { RunRecorder } from '@scanfarm/contracts'
import { errorText } from '@scanfarm/platform'
import { type ExecContext, perform } from './perform.ts'
import type { EndedRun, PlannedRun } from './planned.ts'

/** Called before each run, during it, and when it has ended. */
export interface Reporter {
  begin(run: PlannedRun): RunRecorder
  ended(ended: EndedRun): void
}

const CANCELLED: EndedRun['result'] = { status: 'cancelled', errorMessage: '' }

const runOne = async (run: PlannedRun, reporter: Reporter, context: ExecContext): Promise<EndedRun> => {
  if (context.signal.aborted) return { run, result: CANCELLED, seconds: 0 }
  const began = performance.now()
  const recorder = reporter.begin(run)
  const result = await perform(run, recorder, context).catch((error: unknown): EndedRun['result'] =>
    context.signal.aborted ? CANCELLED : { status: 'failed', errorMessage: errorText(error) },
  )
  const ended = { run, result, seconds: Math.round(performance.now() - began) / 1000 }
  reporter.ended(ended)
  return ended
}

/**
 * Executes the runs of each target in order, and this many targets at the same time. A failed run does not stop the
 * others. After an abort, no run starts.
 */
export const runAll = async (
  targets: readonly (readonly PlannedRun[])[],
  concurrency: number,
  reporter: Reporter,
  context: ExecContext,
): Promise<EndedRun[]> => {
  const waiting = targets.entries()
  const ended: EndedRun[][] = []
  const worker = async (): Promise<void> => {
    // All share one iterator, so each target is taken once.
    for (const [index, runs] of waiting) {
      const mine: EndedRun[] = (ended[index] = [])
      for (const run of runs) mine.push(await runOne(run, reporter, context))
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, targets.length) }, worker))
  return ended.flat()
}
