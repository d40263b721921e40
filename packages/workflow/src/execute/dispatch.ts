import type { StepRun } from './place.ts'
import { renderCommands, runCommands } from './steps/bash.ts'
import { functionsOf, runFunctions } from './steps/function.ts'
import { failed, type StepEnd } from './step-end.ts'

/** A step made ready: everything rendered, nothing done. */
export interface Prepared {
  /** For the record. */
  readonly command: string
  run(): Promise<StepEnd>
}

/** Throws `RenderError`. */
export const prepare = (at: StepRun): Prepared => {
  const { step, module } = at
  switch (step.type) {
    case 'bash': {
      const commands = renderCommands(at)
      return {
        command: commands.list.join('\n'),
        run: async () => await runCommands(at, await module.run.runner(module.runner), commands),
      }
    }
    case 'function':
      return { command: functionsOf(at).list.join('\n'), run: async () => await runFunctions(at) }
    default:
      return { command: '', run: async () => failed(`steps of type ${step.type} are not supported`) }
  }
}
