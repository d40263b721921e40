import type { Action, Branch, Step } from '../model.ts'
import { renderPlain, renderValue } from './render.ts'
import { condition } from './condition.ts'
import type { StepRun } from './place.ts'
import { ownRow } from './row.ts'
import { signalOf } from './step-limit.ts'

/** A step that somebody else's action or decision asks for; it has a row, which does not count. */
const aside = async (at: StepRun, step: Step, key: string): Promise<void> => {
  await at.module.runStep({ ...at, step, key: at.module.run.uniqueKey(`${at.key}/${key}`) }, ownRow(false))
}

const holds = async (at: StepRun, source: string | undefined): Promise<boolean> => {
  if (source === undefined || source.trim() === '') return true
  const result = await condition(at, source)
  if (result.kind === 'error') {
    at.module.run.input.recorder.log('warn', `${at.step.name}: condition of an action: ${result.message}`)
  }
  return result.kind === 'true'
}

const runAction = async (at: StepRun, action: Action, key: string): Promise<void> => {
  const functions = action.functions ?? []
  const name = `${at.step.name}-${key}`
  if (action.command !== undefined && action.type !== 'function') {
    await aside(at, { name, type: 'bash', command: action.command }, key)
  } else if (functions.length > 0) await aside(at, { name, type: 'function', functions }, key)
}

const notify = (at: StepRun, message: string): void => {
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
 * Takes a step's or module's actions; variables are set in `home`, which sees less than `at` (not the step's results).
 * Answers whether one of them says that everything has to end here.
 */
export const takeActions = async (
  at: StepRun,
  actions: readonly Action[],
  list: 'on_success' | 'on_error',
  home: StepRun = at,
): Promise<{ abort: boolean }> => {
  const { run, scope, exported } = at.module
  let abort = false
  for (const [index, action] of actions.entries()) {
    if (signalOf(at).aborted) break
    if (!(await holds(at, action.condition))) continue
    const message = () => renderPlain(run.engine, action.message ?? action.notify ?? '', at.scope)
    switch (action.action) {
      case 'log':
        run.input.recorder.log(list === 'on_error' ? 'warn' : 'info', message())
        break
      case 'export':
        if (action.name === undefined) break
        home.scope.set(action.name, renderValue(run.engine, action.value ?? '', at.scope))
        if (home.scope === scope) exported.add(action.name)
        break
      case 'notify':
        notify(at, renderPlain(run.engine, action.notify ?? action.message ?? '', at.scope))
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

/** The commands and expressions of a branch, before its goto. What fails in them stays with them. */
const takeBranch = async (
  at: StepRun,
  branch: Branch,
  kind: 'inline' | 'condition',
): Promise<string | undefined> => {
  const commands = [...(branch.command === undefined ? [] : [branch.command]), ...(branch.commands ?? [])]
  const functions = [...(branch.function === undefined ? [] : [branch.function]), ...(branch.functions ?? [])]
  if (commands.length > 0) {
    const name = `decision-${kind}-bash`
    await aside(at, { name, type: 'bash', commands }, name)
  }
  if (functions.length > 0) {
    const name = `decision-${kind}-function`
    await aside(at, { name, type: 'function', functions }, name)
  }
  return branch.goto
}

/** Where a step that has succeeded says to go on; `undefined`: with the next one. */
export const decide = async (at: StepRun): Promise<string | undefined> => {
  const { decision } = at.step
  if (decision === undefined) return undefined
  let goto: string | undefined
  if (decision.switch !== undefined) {
    const word = renderPlain(at.module.run.engine, decision.switch, at.scope).trim()
    const { cases = {}, default: otherwise } = decision
    const branch = Object.hasOwn(cases, word) ? cases[word] : otherwise
    if (branch !== undefined) goto = await takeBranch(at, branch, 'inline')
  }
  for (const branch of decision.conditions ?? []) {
    if (!(await holds(at, branch.if))) continue
    goto = (await takeBranch(at, branch, 'condition')) ?? goto
  }
  return goto
}
