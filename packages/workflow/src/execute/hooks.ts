import type { Step } from '../model.ts'
import type { ModuleRun } from './place.ts'
import { ownRow } from './row.ts'
import { placeStep } from './steps-in-order.ts'

/** Steps around the scan: recorded, not counted, and whatever goes wrong in them is only told. */
export const runHooks = async (
  module: ModuleRun,
  steps: readonly Step[],
  when: 'pre' | 'post',
): Promise<void> => {
  const { run } = module
  for (const [index, step] of steps.entries()) {
    if (run.signal.aborted) return
    const outcome = await module.runStep(placeStep(module, step, `${when}-hook-${index + 1}`), ownRow(false))
    if (outcome.kind === 'failed')
      run.input.recorder.log('warn', `hook ${step.name} failed: ${outcome.error}`)
  }
}
