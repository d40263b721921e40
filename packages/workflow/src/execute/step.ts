import { RunnerUnavailableError } from '@scanfarm/contracts'
import { messageOf } from '../fault.ts'
import { authored } from '../template/value.ts'
import type { Value } from '../template/value.ts'
import { condition } from './condition.ts'
import { prepare, type Prepared } from './dispatch.ts'
import { evaluateExports, recordedExports } from './exports.ts'
import type { StepRun } from './place.ts'
import { RenderError, renderPlain } from './render.ts'
import { failed, type StepEnd } from './step-end.ts'

/** Characters of a command in the record. */
const MAX_COMMAND = 64 * 1024

export type StepOutcome =
  | {
      readonly kind: 'completed'
      readonly exports: ReadonlyMap<string, Value>
      readonly end: StepEnd & { kind: 'done' }
    }
  | { readonly kind: 'failed'; readonly error: string; readonly goesOn: boolean }
  | { readonly kind: 'skipped' }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'skip-module'; readonly message: string }

/** The row of one step in the record, from opening to closing. */
class Row {
  readonly #at: StepRun
  readonly #counts: boolean
  readonly #from: number

  constructor(at: StepRun, command: string, counts: boolean) {
    const { run, name } = at.module
    this.#at = at
    this.#counts = counts
    this.#from = run.ports.monotonic()
    run.input.recorder.stepOpened({
      key: at.key,
      seq: run.nextSeq(),
      name: at.step.name,
      type: at.step.type,
      module: name,
      command: at.step.suppress_details === true ? '' : run.recordable(command, MAX_COMMAND),
      startedAt: run.ports.now(),
    })
  }

  close(
    status: 'completed' | 'failed' | 'skipped' | 'cancelled',
    more: { error?: string; exports?: Record<string, string>; exitCode?: number | undefined } = {},
  ): void {
    const { run } = this.#at.module
    run.input.recorder.stepClosed(
      {
        key: this.#at.key,
        status,
        errorMessage: run.recordable(more.error ?? '', MAX_COMMAND),
        exports: more.exports ?? {},
        ...(more.exitCode === undefined ? {} : { exitCode: more.exitCode }),
        durationMs: Math.max(0, Math.round(run.ports.monotonic() - this.#from)),
        completedAt: run.ports.now(),
      },
      this.#counts,
    )
  }
}

/** A row for a step that does not run, with the reason. */
export const skipStep = (at: StepRun, reason: string, counts: boolean): void =>
  new Row(at, '', counts).close('skipped', { error: reason })

/** `on_error: [{action: continue}]` goes on, whatever conditions its other actions have. */
const continues = ({ step }: StepRun): boolean =>
  (step.on_error ?? []).some(({ action }) => action === 'continue')

const preCondition = async (at: StepRun, counts: boolean): Promise<StepOutcome | undefined> => {
  const source = at.step.pre_condition
  if (source === undefined || source === '') return undefined
  const result = await condition(at, source)
  if (result.kind === 'true') return undefined
  if (result.kind === 'false') {
    skipStep(at, 'pre-condition is false', counts)
    return { kind: 'skipped' }
  }
  if (result.kind === 'skip-module') {
    skipStep(at, result.message === '' ? 'the module is skipped' : result.message, counts)
    return result
  }
  if (result.kind === 'cancelled') return toOutcome(at, at.module.run.interruption(), new Row(at, '', counts))
  return toOutcome(
    at,
    failed(`pre-condition evaluation failed: ${result.message}`),
    new Row(at, source, counts),
  )
}

const toOutcome = async (at: StepRun, end: StepEnd, row: Row): Promise<StepOutcome> => {
  if (end.kind === 'cancelled') {
    row.close('cancelled', { error: 'cancelled' })
    return { kind: 'cancelled' }
  }
  if (end.kind === 'skip-module') {
    row.close('completed', {})
    return end
  }
  if (end.kind === 'failed') {
    row.close('failed', { error: end.error, exitCode: end.exitCode })
    return { kind: 'failed', error: end.error, goesOn: continues(at) && !at.module.run.signal.aborted }
  }
  const exports = await evaluateExports(at, end).catch((error: unknown) => ({
    kind: 'error' as const,
    message: messageOf(error),
  }))
  if (exports.kind === 'cancelled') return await toOutcome(at, at.module.run.interruption(), row)
  if (exports.kind === 'error') return await toOutcome(at, failed(exports.message), row)
  row.close('completed', { exports: recordedExports(at, exports.values), exitCode: end.exitCode })
  return { kind: 'completed', exports: exports.values, end }
}

const dryRun = (at: StepRun, row: Row): StepOutcome => {
  void at.module.run.input.recorder.output(at.key, 'stdout', Buffer.from('[DRY-RUN] Skipped\n'))
  const exports = new Map(Object.keys(at.step.exports ?? {}).map((name) => [name, authored('true')]))
  row.close('completed', { exports: recordedExports(at, exports) })
  return { kind: 'completed', exports, end: { kind: 'done', stdout: '', output: '' } }
}

const performed = async (prepared: Prepared): Promise<StepEnd> => {
  try {
    return await prepared.run()
  } catch (error) {
    if (error instanceof RenderError || error instanceof RunnerUnavailableError) return failed(error.message)
    throw error
  }
}

/** One step with its row: condition, work, exports. What comes after it is the list's business. */
export const runStep = async (at: StepRun, counts: boolean): Promise<StepOutcome> => {
  const { run } = at.module
  const { dryRun: dry = false } = run.input
  const early = dry ? undefined : await preCondition(at, counts)
  if (early !== undefined) return early
  if (run.signal.aborted) return { kind: 'cancelled' }
  let prepared: Prepared
  try {
    if (at.step.log !== undefined)
      run.input.recorder.log('info', renderPlain(run.engine, at.step.log, at.scope))
    prepared = prepare(at)
  } catch (error) {
    if (!(error instanceof RenderError)) throw error
    return await toOutcome(at, failed(error.message), new Row(at, at.step.command ?? '', counts))
  }
  const row = new Row(at, prepared.command, counts)
  if (dry) return dryRun(at, row)
  return await toOutcome(at, await performed(prepared), row)
}
