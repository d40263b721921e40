import type { StepRun } from './place.ts'
import { renderAgent, runAgent } from './steps/agent.ts'
import { renderLlm, runLlm } from './steps/llm.ts'
import { renderCommands, runCommands } from './steps/bash.ts'
import { renderLoop, runForeach } from './steps/foreach.ts'
import { functionsOf, runFunctions } from './steps/function.ts'
import { renderHttp, runHttp } from './steps/http.ts'
import { runParallel } from './steps/parallel.ts'
import { renderRunner, runRemote } from './steps/remote-bash.ts'
import { failed, type StepEnd } from './step-end.ts'

/** A step made ready: everything rendered, nothing done. */
export interface Prepared {
  /** For the record. */
  readonly command: string
  run(): Promise<StepEnd>
}

const kinds: Readonly<Record<string, (at: StepRun) => Prepared>> = {
  bash(at) {
    const { module } = at
    const commands = renderCommands(at)
    return {
      command: commands.list.join('\n'),
      run: async () => await runCommands(at, await module.run.runner(module.runner), commands),
    }
  },
  'remote-bash'(at) {
    const commands = renderCommands(at)
    const spec = renderRunner(at)
    return { command: commands.list.join('\n'), run: async () => await runRemote(at, spec, commands) }
  },
  function: (at) => ({ command: functionsOf(at).list.join('\n'), run: async () => await runFunctions(at) }),
  'parallel-steps': (at) => ({
    command: (at.step.parallel_steps ?? []).map(({ name }) => name).join(', '),
    run: async () => await runParallel(at),
  }),
  foreach(at) {
    const loop = renderLoop(at)
    return { command: `foreach ${loop.input}`, run: async () => await runForeach(at, loop) }
  },
  llm(at) {
    const call = renderLlm(at)
    const messages = 'messages' in call.body ? call.body['messages'] : call.body['input']
    return { command: JSON.stringify(messages ?? []), run: async () => await runLlm(at, call) }
  },
  agent(at) {
    const plan = renderAgent(at)
    return { command: plan.goals.join('\n'), run: async () => await runAgent(at, plan) }
  },
  http(at) {
    const call = renderHttp(at)
    return { command: `${call.method} ${call.url}`, run: async () => await runHttp(at, call) }
  },
}

/** Throws `RenderError`. */
export const prepare = (at: StepRun): Prepared => {
  const kind = Object.hasOwn(kinds, at.step.type) ? kinds[at.step.type] : undefined
  if (kind !== undefined) return kind(at)
  return { command: '', run: async () => failed(`steps of type ${at.step.type} are not supported`) }
}
