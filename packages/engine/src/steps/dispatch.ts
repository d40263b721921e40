import { sendsNothing } from '@scanfarm/functions'
import type { Step, StepType } from '@scanfarm/language'
import type { StepContext } from '../step/step-context.ts'
import { renderAgent, runAgent } from './agent.ts'
import { renderLlm, runLlm } from './llm.ts'
import { renderCommands, runCommands } from './bash.ts'
import { renderLoop, runForeach } from './foreach.ts'
import { functionsOf, runFunctions } from './function.ts'
import { renderHttp, runHttp } from './http.ts'
import { runParallel } from './parallel.ts'
import { renderRunner, runRemote } from './remote-bash.ts'
import { failed, type StepEnd } from '../step/step-end.ts'

/** A step with everything rendered and nothing executed. */
export interface Prepared {
  /** The command for the record. */
  readonly command: string
  run(): Promise<StepEnd>
}

/**
 * Expressions beside the functions of a step that may send something: the record of a function step names all of them.
 * Actions and branches have their own records.
 */
const sendingBeside = ({ step }: StepContext): string[] =>
  [
    step.pre_condition ?? '',
    ...Object.values(step.exports ?? {}),
    ...[step.on_success ?? [], step.on_error ?? []].flat().map(({ condition = '' }) => condition),
    ...(step.decision?.conditions ?? []).map(({ if: condition = '' }) => condition),
  ].filter((code) => !sendsNothing(code))

/** What a step executes, as its author wrote it. */
const sourcesOf = (step: Step): string[] =>
  step.suppress_details === true
    ? []
    : [
        ...[step.command ?? [], step.commands ?? [], functionsOf({ step }).list, step.url ?? []].flat(),
        ...[step.parallel_steps ?? [], step.step ?? []].flat().flatMap(sourcesOf),
      ]

const kinds: Readonly<Record<StepType, (at: StepContext) => Prepared>> = {
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
  function: (at) => ({
    command: [...functionsOf(at).list, ...sendingBeside(at)].join('\n'),
    run: async () => await runFunctions(at),
  }),
  'parallel-steps': (at) => ({
    command: (at.step.parallel_steps ?? []).map(({ name }) => name).join(', '),
    run: async () => await runParallel(at),
  }),
  foreach(at) {
    const loop = renderLoop(at)
    const each = at.step.step === undefined ? [] : sourcesOf(at.step.step)
    return {
      command: [`foreach ${loop.input}`, ...each].join('\n'),
      run: async () => await runForeach(at, loop),
    }
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

const known = (type: string): type is StepType => Object.hasOwn(kinds, type)

/** Renders a step. Throws `RenderError`. */
export const prepare = (at: StepContext): Prepared => {
  if (known(at.step.type)) return kinds[at.step.type](at)
  return { command: '', run: async () => failed(`steps of type ${at.step.type} are not supported`) }
}
