import type { Action, Branch, Step } from '@scanfarm/language'
import { renderPlain, renderValue } from './render.ts'
import { condition } from './condition.ts'
import { type StepContext, signalOf } from './step-context.ts'
import { ownRow } from './row.ts'

/** Runs a step of an action or decision. It is recorded but not counted. */
const runUncounted = async (at: StepContext, step: Step, key: string): Promise<void> => {
  await at.module.runStep({ ...at, step, key: at.module.run.uniqueKey(`${at.key}/${key}`) }, ownRow(false))
}

const isMet = async (at: StepContext, source: string | undefined): Promise<boolean> => {
  if (source === undefined || source.trim() === '') return true
  const result = await condition(at, source)
  if (result.kind === 'error') {
    at.module.run.input.recorder.log('warn', `${at.step.name}: condition of an action: ${result.message}`)
  }
  return result.kind === 'true'
}

const runAction = async (at: StepContext, action: Action, key: string): Promise<void> => {
  const functions = action.functions ?? []
  const name = `${at.step.name}-${key}`
  if (action.command !== undefined && action.type !== 'function') {
    await runUncounted(at, { name, type: 'bash', command: action.command }, key)
  } else if (functions.length > 0) await runUncounted(at, { name, type: 'function', functions }, key)
}

const notify = (at: StepContext, message: string): void => {
  const { input } = at.module.run
  input.recorder.event({
    topic: 'action_notify',
    name: 'action_notify',
    source: 'executor',
    dataType: 'notification',
    data: { message, workflow: input.workflow.root.name, run_uuid: input.runUuid, target: input.target },
  })
}

/**
 * Executes the actions of a step or module. Variables are set in `outer`, which does not contain the results of the step
 * as `at` does. Returns whether an action aborts the module or flow.
 */
export const runActions = async (
  at: StepContext,
  actions: readonly Action[],
  list: 'on_success' | 'on_error',
  outer: StepContext = at,
): Promise<{ abort: boolean }> => {
  const { run, scope, exported } = at.module
  let abort = false
  for (const [index, action] of actions.entries()) {
    if (signalOf(at).aborted) break
    if (!(await isMet(at, action.condition))) continue
    const message = () => renderPlain(action.message ?? action.notify ?? '', at.scope)
    switch (action.action) {
      case 'log':
        run.input.recorder.log(list === 'on_error' ? 'warn' : 'info', message())
        break
      case 'export':
        if (action.name === undefined) break
        outer.scope.set(action.name, renderValue(action.value ?? '', at.scope))
        if (outer.scope === scope) exported.add(action.name)
        break
      case 'notify':
        notify(at, renderPlain(action.notify ?? action.message ?? '', at.scope))
        break
      case 'run':
        await runAction(at, action, `${list}-${index + 1}`)
        break
      case 'abort':
        abort = true
        break
      case 'continue':
        if (action.message !== undefined) run.input.recorder.log('info', message())
        break
      case undefined:
    }
  }
  return { abort }
}

/** Runs the commands and expressions of a branch, then returns its goto. Failures in them are ignored. */
const runBranch = async (
  at: StepContext,
  branch: Branch,
  kind: 'inline' | 'condition',
): Promise<string | undefined> => {
  const run = async (
    type: 'bash' | 'function',
    work: Pick<Step, 'commands' | 'functions'>,
  ): Promise<void> => {
    const name = `decision-${kind}-${type}`
    await runUncounted(at, { name, type, ...work }, name)
  }
  const commands = [branch.command ?? [], branch.commands ?? []].flat()
  const functions = [branch.function ?? [], branch.functions ?? []].flat()
  if (commands.length > 0) await run('bash', { commands })
  if (functions.length > 0) await run('function', { functions })
  return branch.goto
}

/** The name of the step to continue with after success; `undefined`: the next one. */
export const decide = async (at: StepContext): Promise<string | undefined> => {
  const { decision } = at.step
  if (decision === undefined) return undefined
  let goto: string | undefined
  if (decision.switch !== undefined) {
    const word = renderPlain(decision.switch, at.scope).trim()
    const { cases = {}, default: otherwise } = decision
    const branch = Object.hasOwn(cases, word) ? cases[word] : otherwise
    if (branch !== undefined) goto = await runBranch(at, branch, 'inline')
  }
  for (const branch of decision.conditions ?? []) {
    if (!(await isMet(at, branch.if))) continue
    goto = (await runBranch(at, branch, 'condition')) ?? goto
  }
  return goto
}
