import { RunnerUnavailableError } from '@scanfarm/contracts'
import { codeOf, messageOf } from '../fault.ts'
import { authored, type Value } from '../template/value.ts'
import { decide, takeActions } from './after.ts'
import { condition } from './condition.ts'
import { prepare, type Prepared } from './dispatch.ts'
import { evaluateExports, recordedExports, withResults } from './exports.ts'
import { parseDuration } from './duration.ts'
import type { StepRun } from './place.ts'
import { RenderError, renderPlain } from './render.ts'
import { withRetry } from './retry.ts'
import { signalOf, interruption, StepLimit } from './step-limit.ts'
import { skipStep, type OpenRow, type Row } from './row.ts'
import { failed, type BadEnd, type StepEnd, type StepOutcome } from './step-end.ts'
import { InnerTrace, isWork } from './tally.ts'

/** `on_error: [{action: continue}]` goes on, whatever conditions its other actions have. */
const continues = ({ step }: StepRun): boolean =>
  (step.on_error ?? []).some(({ action }) => action === 'continue')

const preCondition = async (at: StepRun, openRow: OpenRow): Promise<StepOutcome | undefined> => {
  const source = at.step.pre_condition
  if (source === undefined || source === '') return undefined
  const result = await condition(at, source)
  switch (result.kind) {
    case 'true':
      return undefined
    case 'false':
      skipStep(at, 'pre-condition is false', openRow)
      return { kind: 'skipped' }
    case 'skip-module':
      skipStep(at, result.message === '' ? 'the module is skipped' : result.message, openRow)
      return result
    case 'cancelled':
      return closeBadly(at, openRow(at, ''), interruption(at))
    case 'error':
      return closeBadly(at, openRow(at, source), failed(`pre-condition evaluation failed: ${result.message}`))
  }
}

const closeBadly = (at: StepRun, row: Row, end: BadEnd): StepOutcome => {
  if (end.kind === 'cancelled') {
    row.close('cancelled', { error: 'cancelled' })
    return { kind: 'cancelled' }
  }
  if (end.kind === 'skip-module') {
    row.close('completed')
    return end
  }
  const { error, exitCode, output = '' } = end
  row.close('failed', { error, exitCode, output })
  at.trace?.failed(error)
  return { kind: 'failed', error, goesOn: continues(at) && !signalOf(at).aborted, output }
}

/** Exports become variables where the step runs; those of a step of the module itself are handed on to the flow. */
const keep = (at: StepRun, exports: ReadonlyMap<string, Value>): void => {
  for (const [name, value] of exports) {
    at.scope.set(name, value)
    if (at.scope === at.module.scope) at.module.exported.add(name)
  }
}

const succeed = async (
  at: StepRun,
  row: Row,
  end: StepEnd & { kind: 'done' },
  command: string,
): Promise<StepOutcome> => {
  const exports = await evaluateExports(at, end).catch((error: unknown) => ({
    kind: 'error' as const,
    message: messageOf(error),
  }))
  if (exports.kind === 'cancelled') return closeBadly(at, row, interruption(at))
  if (exports.kind === 'error') return closeBadly(at, row, { ...failed(exports.message), output: end.output })
  const { values } = exports
  keep(at, values)
  if (isWork(at.step, command)) at.trace?.worked()
  row.close('completed', { exports: recordedExports(at, values), exitCode: end.exitCode, output: end.output })
  return await afterSuccess(at, end, values)
}

const afterSuccess = async (
  at: StepRun,
  end: StepEnd & { kind: 'done' },
  exports: ReadonlyMap<string, Value>,
): Promise<StepOutcome> => {
  const { step } = at
  const output = end.output
  const failedAfter = (error: string, goesOn: boolean): StepOutcome => {
    at.trace?.failed(error)
    return { kind: 'failed', error, goesOn, output }
  }
  if (step.on_success === undefined && step.decision === undefined)
    return { kind: 'completed', output, exports }
  try {
    const seeing = withResults(at, end)
    const { abort } = await takeActions(seeing, step.on_success ?? [], 'on_success', at)
    if (abort) return failedAfter(`step '${step.name}' aborted the module`, false)
    return { kind: 'completed', output, exports, goto: await decide(seeing) }
  } catch (error) {
    if (error instanceof RenderError) return failedAfter(error.message, continues(at))
    throw error
  }
}

const afterFailure = async (at: StepRun, outcome: StepOutcome): Promise<StepOutcome> => {
  if (outcome.kind !== 'failed' || at.step.on_error === undefined || signalOf(at).aborted) return outcome
  // The step counts as failed; its actions are no work of the module.
  const { trace: _, ...uncounted } = at
  try {
    const { abort } = await takeActions(uncounted, at.step.on_error, 'on_error')
    return abort ? { ...outcome, goesOn: false } : outcome
  } catch (error) {
    if (!(error instanceof RenderError)) throw error
    at.module.run.input.recorder.log('warn', `${at.step.name}: on_error: ${error.message}`)
    return outcome
  }
}

const dryRun = (at: StepRun, row: Row): StepOutcome => {
  void at.module.run.input.recorder.output(at.key, 'stdout', Buffer.from('[DRY-RUN] Skipped\n'))
  const exports = new Map(Object.keys(at.step.exports ?? {}).map((name) => [name, authored('true')]))
  keep(at, exports)
  row.close('completed', { exports: recordedExports(at, exports) })
  return { kind: 'completed', output: '', exports }
}

/** Commands have a limit each, see `runCommands`; the work of any other step has one as a whole. */
const COMMAND_TYPES: ReadonlySet<string> = new Set(['bash', 'remote-bash'])

const limitOf = (at: StepRun): StepLimit | undefined => {
  const { type, timeout } = at.step
  if (timeout === undefined || COMMAND_TYPES.has(type)) return undefined
  const ms = parseDuration(renderPlain(at.module.run.engine, timeout, at.scope)) ?? 0
  return ms === 0 ? undefined : new StepLimit(ms, signalOf(at))
}

const performed = async (prepared: Prepared, limit: StepLimit | undefined): Promise<StepEnd> => {
  try {
    return await (limit === undefined ? prepared.run() : limit.within(async () => await prepared.run()))
  } catch (error) {
    if (error instanceof RenderError || error instanceof RunnerUnavailableError) return failed(error.message)
    // Files that cannot be written, a runner that cannot take them: the step's fault or the world's, not a bug here.
    if (codeOf(error) !== '') return failed(messageOf(error))
    throw error
  }
}

/** One step from its condition to its decision, with its row. `openRow` says how it is recorded. */
export const runStep = async (at: StepRun, rows: OpenRow): Promise<StepOutcome> => {
  const { run } = at.module
  const { dryRun: dry = false } = run.input
  const early = dry ? undefined : await preCondition(at, rows)
  if (early !== undefined) return early
  if (signalOf(at).aborted) return { kind: 'cancelled' }
  let prepared: Prepared
  let limit: StepLimit | undefined
  const inside = new InnerTrace(at.trace)
  try {
    if (at.step.log !== undefined)
      run.input.recorder.log('info', renderPlain(run.engine, at.step.log, at.scope))
    limit = limitOf(at)
    const inner = at.trace === undefined ? at : { ...at, trace: inside }
    prepared = prepare(limit === undefined ? inner : { ...inner, limits: [...at.limits, limit] })
  } catch (error) {
    if (!(error instanceof RenderError)) throw error
    const end = closeBadly(at, rows(at, at.step.command ?? ''), { kind: 'failed', error: error.message })
    return await afterFailure(at, end)
  }
  const row = rows(at, prepared.command)
  if (dry) return dryRun(at, row)
  const end = await withRetry(at, async () => {
    inside.begin()
    return await performed(prepared, limit)
  })
  inside.end()
  return end.kind === 'done'
    ? await succeed(at, row, end, prepared.command)
    : await afterFailure(at, closeBadly(at, row, end))
}
