import { RunnerUnavailableError } from '@scanfarm/contracts'
import { sendsNothing } from '@scanfarm/functions'
import { codeOf, messageOf, authored, type Value, parseDuration } from '@scanfarm/language'
import { decide, runActions } from './actions.ts'
import { condition } from './condition.ts'
import { prepare, type Prepared } from '../steps/dispatch.ts'
import { evaluateExports, recordedExports, withResults } from './exports.ts'
import {
  type ModuleContext,
  type StepContext,
  signalOf,
  interruption,
  type OpenRow,
  type Row,
} from './step-context.ts'
import { RenderError, renderPlain } from './render.ts'
import { withRetry } from './retry.ts'
import { StepLimit } from './step-limit.ts'
import { skipStep } from './row.ts'
import { failed, type BadEnd, type StepEnd, type StepOutcome } from './step-end.ts'
import type { Run } from '../flow/run.ts'
import type { Scope } from '../flow/scope.ts'
import { InnerTrace, isWork } from '../flow/tally.ts'

/** `on_error: [{action: continue}]` applies whatever the conditions of the step's other actions. */
const hasContinue = ({ step }: StepContext): boolean =>
  (step.on_error ?? []).some(({ action }) => action === 'continue')

const skipReason = (message: string): string => (message === '' ? 'the module is skipped' : message)

const preCondition = async (at: StepContext, openRow: OpenRow): Promise<StepOutcome | undefined> => {
  const source = at.step.pre_condition
  if (source === undefined || source === '') return undefined
  const result = await condition(at, source)
  const command = sendsNothing(source) ? '' : source
  switch (result.kind) {
    case 'true':
      return undefined
    case 'false':
      skipStep(at, 'pre-condition is false', openRow, command)
      return { kind: 'skipped' }
    case 'skip-module':
      skipStep(at, skipReason(result.message), openRow, command)
      return result
    case 'cancelled':
      return closeUnsuccessful(at, openRow(at, ''), interruption(at))
    case 'error':
      return closeUnsuccessful(
        at,
        openRow(at, source),
        failed(`pre-condition evaluation failed: ${result.message}`),
      )
  }
}

const closeUnsuccessful = (at: StepContext, row: Row, end: BadEnd): StepOutcome => {
  if (end.kind === 'cancelled') {
    row.close('cancelled', { error: 'cancelled' })
    return { kind: 'cancelled' }
  }
  if (end.kind === 'skip-module') {
    row.close('skipped', { error: skipReason(end.message) })
    return end
  }
  const { error, exitCode, output = '' } = end
  row.close('failed', { error, exitCode, output })
  at.trace?.failed(error)
  return { kind: 'failed', error, continues: hasContinue(at) && !signalOf(at).aborted, output }
}

/** Sets exports as variables of the step's scope. Exports of a top-level step are also passed on to the flow. */
const setExports = (at: StepContext, exports: ReadonlyMap<string, Value>): void => {
  for (const [name, value] of exports) {
    at.scope.set(name, value)
    if (at.scope === at.module.scope) at.module.exported.add(name)
  }
}

const succeed = async (
  at: StepContext,
  row: Row,
  end: StepEnd & { kind: 'done' },
  command: string,
): Promise<StepOutcome> => {
  const exports = await evaluateExports(at, end).catch((error: unknown) => ({
    kind: 'error' as const,
    message: messageOf(error),
  }))
  if (exports.kind === 'cancelled') return closeUnsuccessful(at, row, interruption(at))
  if (exports.kind === 'error')
    return closeUnsuccessful(at, row, { ...failed(exports.message), output: end.output })
  const { values } = exports
  setExports(at, values)
  if (at.trace !== undefined && isWork(at.step, command)) at.trace.worked()
  row.close('completed', {
    error: end.blocked,
    exports: recordedExports(at, values),
    exitCode: end.exitCode,
    output: end.output,
  })
  return await afterSuccess(at, end, values)
}

const afterSuccess = async (
  at: StepContext,
  end: StepEnd & { kind: 'done' },
  exports: ReadonlyMap<string, Value>,
): Promise<StepOutcome> => {
  const { step } = at
  const output = end.output
  const failedAfter = (error: string, continues: boolean): StepOutcome => {
    at.trace?.failed(error)
    return { kind: 'failed', error, continues, output }
  }
  if (step.on_success === undefined && step.decision === undefined)
    return { kind: 'completed', output, exports }
  try {
    const seeing = withResults(at, end)
    const { abort } = await runActions(seeing, step.on_success ?? [], 'on_success', at)
    if (abort) return failedAfter(`step '${step.name}' aborted the module`, false)
    return { kind: 'completed', output, exports, goto: await decide(seeing) }
  } catch (error) {
    if (error instanceof RenderError) return failedAfter(error.message, hasContinue(at))
    throw error
  }
}

const afterFailure = async (at: StepContext, outcome: StepOutcome): Promise<StepOutcome> => {
  if (outcome.kind !== 'failed' || at.step.on_error === undefined || signalOf(at).aborted) return outcome
  // The step already counts as failed; its actions are not counted.
  const { trace: _, ...uncounted } = at
  try {
    const { abort } = await runActions(uncounted, at.step.on_error, 'on_error')
    return abort ? { ...outcome, continues: false } : outcome
  } catch (error) {
    if (!(error instanceof RenderError)) throw error
    at.module.run.input.recorder.log('warn', `${at.step.name}: on_error: ${error.message}`)
    return outcome
  }
}

const dryRun = (at: StepContext, row: Row): StepOutcome => {
  void at.module.run.input.recorder.output(at.key, 'stdout', Buffer.from('[DRY-RUN] Skipped\n'))
  const exports = new Map(Object.keys(at.step.exports ?? {}).map((name) => [name, authored('true')]))
  setExports(at, exports)
  row.close('completed', { exports: recordedExports(at, exports) })
  return { kind: 'completed', output: '', exports }
}

/** Step types that apply the limit to each command, see `runCommands`. Elsewhere it covers the whole step. */
const COMMAND_TYPES: ReadonlySet<string> = new Set(['bash', 'remote-bash'])

const limitOf = (at: StepContext): StepLimit | undefined => {
  const { type, timeout } = at.step
  if (timeout === undefined || COMMAND_TYPES.has(type)) return undefined
  const ms = parseDuration(renderPlain(timeout, at.scope)) ?? 0
  return ms === 0 ? undefined : new StepLimit(ms, signalOf(at))
}

const performed = async (prepared: Prepared, limit: StepLimit | undefined): Promise<StepEnd> => {
  try {
    return await (limit === undefined ? prepared.run() : limit.within(async () => await prepared.run()))
  } catch (error) {
    if (error instanceof RenderError || error instanceof RunnerUnavailableError) return failed(error.message)
    // System errors, for example of files that cannot be written, fail the step; all other errors are bugs.
    if (codeOf(error) !== '') return failed(messageOf(error))
    throw error
  }
}

/** No attempt can succeed without the folders of the run. */
const inDirectory = async (at: StepContext, work: () => Promise<StepEnd>): Promise<StepEnd> => {
  const { run } = at.module
  if (await run.hasDirectory()) return await withRetry(at, work)
  return signalOf(at).aborted ? interruption(at) : failed(run.directoryError)
}

/** Runs one step, from its condition to its decision. `rows` opens its record. */
export const runStep = async (at: StepContext, rows: OpenRow): Promise<StepOutcome> => {
  const { run } = at.module
  const { dryRun: dry = false } = run.input
  const early = dry ? undefined : await preCondition(at, rows)
  if (early !== undefined) return early
  if (signalOf(at).aborted) return { kind: 'cancelled' }
  let prepared: Prepared
  let limit: StepLimit | undefined
  const inside = new InnerTrace(at.trace)
  try {
    if (at.step.log !== undefined) run.input.recorder.log('info', renderPlain(at.step.log, at.scope))
    limit = limitOf(at)
    const inner = at.trace === undefined ? at : { ...at, trace: inside }
    prepared = prepare(limit === undefined ? inner : { ...inner, limits: [...at.limits, limit] })
  } catch (error) {
    if (!(error instanceof RenderError)) throw error
    const end = closeUnsuccessful(at, rows(at, at.step.command ?? ''), {
      kind: 'failed',
      error: error.message,
    })
    return await afterFailure(at, end)
  }
  const row = rows(at, prepared.command)
  if (dry) return dryRun(at, row)
  const end = await inDirectory(at, async () => {
    inside.begin()
    return await performed(prepared, limit)
  })
  inside.end()
  return end.kind === 'done'
    ? await succeed(at, row, end, prepared.command)
    : await afterFailure(at, closeUnsuccessful(at, row, end))
}

/** The context of a module that begins. `name`: in the flow, or `""`. Commands run on this machine by default. */
export const moduleContext = (
  run: Run,
  name: string,
  scope: Scope,
  own: Partial<Pick<ModuleContext, 'runner' | 'turns'>> = {},
): ModuleContext => ({ run, name, scope, runner: { type: 'host' }, exported: new Set(), runStep, ...own })
