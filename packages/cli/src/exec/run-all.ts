import type { RunRecorder } from '@scanfarm/contracts'
import { errorText } from '@scanfarm/platform'
import type { Around } from './perform.ts'
import { perform } from './perform.ts'
import type { EndedRun, PlannedRun } from './planned.ts'

/** Is notified before each run, during it, and when it has ended. */
export interface Reporter {
  begin(run: PlannedRun): RunRecorder
  ended(ended: EndedRun): void
}

const CANCELLED: EndedRun['result'] = { status: 'cancelled', errorMessage: '' }

const runOne = async (run: PlannedRun, reporter: Reporter, around: Around): Promise<EndedRun> => {
  if (around.signal.aborted) return { run, result: CANCELLED, seconds: 0 }
  const began = performance.now()
  const recorder = reporter.begin(run)
  const result = await perform(run, recorder, around).catch((error: unknown): EndedRun['result'] =>
    around.signal.aborted ? CANCELLED : { status: 'failed', errorMessage: errorText(error) },
  )
  const ended = { run, result, seconds: Math.round(performance.now() - began) / 1000 }
  reporter.ended(ended)
  return ended
}

/**
 * The runs of each target in their order, and so many targets at once. A run that fails holds nothing up; after an
 * abort none begins.
 */
export const runAll = async (
  targets: readonly (readonly PlannedRun[])[],
  concurrency: number,
  reporter: Reporter,
  around: Around,
): Promise<EndedRun[]> => {
  const waiting = targets.entries()
  const ended: EndedRun[][] = []
  const worker = async (): Promise<void> => {
    // One iterator for all of them: each target is taken once.
    for (const [index, runs] of waiting) {
      const mine: EndedRun[] = (ended[index] = [])
      for (const run of runs) mine.push(await runOne(run, reporter, around))
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, targets.length) }, worker))
  return ended.flat()
}
