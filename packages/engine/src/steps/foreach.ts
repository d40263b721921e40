import { isThere, runPath, linesOf, type FileScope } from '@scanfarm/functions'
import { namesHost } from '@scanfarm/contracts'
import { authored, data, fromJson, toJson, type Value } from '@scanfarm/language'
import { evaluate } from '../step/evaluate.ts'
import { type StepContext, interruption, signalOf } from '../step/step-context.ts'
import { pool } from '../step/pool.ts'
import { renderPlain } from '../step/render.ts'
import { rowForFailures } from '../step/row.ts'
import type { BegunLoop, ItemCounts } from '../flow/kept-unit.ts'
import type { Run } from '../flow/run.ts'
import { Scope } from '../flow/scope.ts'
import { failed, type StepEnd, type StepOutcome } from '../step/step-end.ts'
import { teeFile, type TeeFile } from '../step/tee-file.ts'
import { ItemOutputs } from './item-outputs.ts'
import { openLedger, type Ledger } from './ledger.ts'
import { loopVariables, withLoopSyntax } from './loop-variables.ts'

export interface Loop {
  readonly input: string
  /** Undefined: as many as there are free slots. */
  readonly threads: number | undefined
}

/** Throws `RenderError`. An invalid number of threads is reported by `runForeach`. */
export const renderLoop = ({ module, step, scope }: StepContext): Loop => {
  const { run } = module
  const threads = renderPlain(run.engine, step.threads ?? '', scope).trim()
  return {
    input: renderPlain(run.engine, step.input ?? '', scope),
    threads: threads === '' ? undefined : Number(threads),
  }
}

const items = async function* (path: string, files: FileScope): AsyncGenerator<string> {
  for await (const line of linesOf(path, files)) {
    const item = line.trim()
    if (item !== '') yield item
  }
}

/** The value of the loop's variable: the line, or the result of the author's expression; the line if that fails. */
const valueOf = async (at: StepContext, variable: string, item: string): Promise<Value> => {
  const source = at.step.variable_pre_process
  if (source === undefined || source === '') return data(item)
  const scope = new Scope(at.scope)
  scope.set(variable, data(item))
  // In the loop's expression the line is a text, even without quotes.
  const code = source.replaceAll(
    new RegExp(String.raw`(["']?)\[\[\s*${variable}\s*\]\]\1`, 'g'),
    ` ${variable} `,
  )
  const result = await evaluate({ ...at, scope }, code)
  return result.kind === 'value' ? fromJson(result.value) : data(item)
}

/** Why the item may not be scanned: the line, or what the loop's expression makes of it. */
const refusalOf = async (
  { module: { run } }: StepContext,
  item: string,
  value: Value,
): Promise<string | undefined> => {
  const { permit } = run.input.services ?? {}
  if (permit === undefined || run.input.dryRun === true) return undefined
  const made = toJson(value)
  const texts = new Set(typeof made === 'string' ? [item, made.trim()] : [item])
  for (const text of texts) {
    const refusal = namesHost(text) ? await permit(text, 'item') : undefined
    if (refusal !== undefined) return refusal
  }
  return undefined
}

/** Items that an earlier attempt of the run has not ended, with their place in the file. */
const openItems = async function* (
  all: AsyncIterable<string>,
  ledger: Ledger | undefined,
): AsyncGenerator<{ item: string; index: number }> {
  let index = 0
  for await (const item of all) {
    if (ledger?.reads(item) !== true) yield { item, index }
    index++
  }
}

class Tally implements ItemCounts {
  completed = 0
  failed = 0
  skipped = 0
  refused = 0
  firstError = ''
  skipModule: (StepOutcome & { kind: 'skip-module' }) | undefined

  restore(counts: ItemCounts): void {
    Object.assign(this, counts)
  }

  get counts(): ItemCounts {
    const { completed, failed: failures, skipped, refused, firstError } = this
    return { completed, failed: failures, skipped, refused, firstError }
  }

  add(outcome: StepOutcome): void {
    if (outcome.kind === 'completed') this.completed++
    else if (outcome.kind === 'skipped') this.skipped++
    else if (outcome.kind === 'skip-module') this.skipModule = outcome
    else if (outcome.kind === 'failed') {
      this.failed++
      if (!outcome.continues && this.firstError === '') this.firstError = outcome.error
    }
  }

  get total(): number {
    return this.completed + this.failed + this.skipped + this.refused
  }

  get line(): string {
    const refused = this.refused === 0 ? '' : `, ${this.refused} refused`
    return `${this.total} items: ${this.completed} completed, ${this.failed} failed, ${this.skipped} skipped${refused}`
  }

  get exports(): Record<string, Value> {
    return { foreach_total: this.total, foreach_completed: this.completed, foreach_failed: this.failed }
  }
}

/** Without slots that loops share, as on one machine, items run one after the other unless the step says otherwise. */
const widthOf = ({ input: { slots }, limits }: Run, threads: number | undefined): number => {
  const { foreachThreads } = limits
  return Math.min(Math.max(1, threads ?? (slots === undefined ? 1 : foreachThreads)), foreachThreads)
}

/** Runs one step for each line of a file, several in parallel. Memory does not grow with the number of lines. */
export const runForeach = async (at: StepContext, { input, threads }: Loop): Promise<StepEnd> => {
  const { run } = at.module
  if (threads !== undefined && !Number.isInteger(threads))
    return failed(`threads must be a whole number, not ${at.step.threads ?? ''}`)
  await run.files.beforeLocal()
  const path = runPath(input, run.input)
  if (!(await isThere(path, run.input))) return failed(`failed to count input lines: ${input} does not exist`)
  const tally = new Tally()
  const opened = await openLedger(
    at,
    () => items(path, run.input),
    () => tally.counts,
  )
  const streaming = renderPlain(run.engine, at.step.exports?.['streaming_output'] ?? '', at.scope)
  const mode = opened.begun === undefined ? 'new' : 'append'
  const file = streaming === '' ? undefined : await teeFile(streaming, run.input, run.mask, mode)
  try {
    return await loop(at, { path, width: widthOf(run, threads), tally, file, ...opened })
  } finally {
    await file?.close()
  }
}

interface Opened {
  readonly path: string
  readonly width: number
  readonly tally: Tally
  readonly file: TeeFile | undefined
  readonly ledger?: Ledger
  readonly begun?: BegunLoop
}

const loop = async (
  outer: StepContext,
  { path, width, tally, file, ledger, begun }: Opened,
): Promise<StepEnd> => {
  const at = ledger === undefined || outer.trace === undefined ? outer : { ...outer, trace: ledger.trace }
  const { run } = at.module
  const { slots } = run.input
  const variable = at.step.variable ?? 'item'
  const inner = withLoopSyntax(at.step.step ?? { name: 'item', type: 'bash' }, variable)
  const rows = rowForFailures(run.limits.foreachFailedRows, begun?.rows)
  const outputs = new ItemOutputs(run.limits.captureBytes)
  if (begun !== undefined) {
    tally.restore(begun.items.counts)
    for (const [index, text] of begun.items.outputs) outputs.add(index, text)
  }
  await pool(
    openItems(items(path, run.input), ledger),
    width,
    async ({ item, index }) => {
      const scope = new Scope(at.scope)
      const value = await valueOf(at, variable, item)
      const refusal = await refusalOf(at, item, value)
      if (refusal !== undefined) {
        tally.refused++
        at.trace?.failed(`${item}: ${refusal}`)
        return void (await ledger?.itemEnded(index, ''))
      }
      scope.setAll(loopVariables(variable, value, index + 1))
      const outcome = await at.module.runStep({ ...at, step: inner, scope }, rows)
      tally.add(outcome)
      const text = 'output' in outcome && outcome.output !== '' ? `${outcome.output}\n` : ''
      const isKept = text !== '' && outputs.add(index, text)
      if (text !== '') await file?.write(Buffer.from(text))
      if (!signalOf(at).aborted) await ledger?.itemEnded(index, isKept ? text : '')
    },
    () => !signalOf(at).aborted && tally.skipModule === undefined,
    slots && ((over) => slots.take(over)),
  )
  if (run.signal.aborted) return run.interruption()
  await run.input.recorder.output(at.key, 'stdout', Buffer.from(`${tally.line}\n`))
  if (signalOf(at).aborted) {
    const end = interruption(at)
    return end.kind === 'failed'
      ? { ...end, error: `${end.error} (${tally.line})`, output: outputs.text }
      : end
  }
  if (tally.skipModule !== undefined) return tally.skipModule
  const output = outputs.text
  if (tally.firstError !== '') return { kind: 'failed', error: `${tally.firstError} (${tally.line})`, output }
  const streamed = at.step.exports?.['streaming_output']
  return {
    kind: 'done',
    stdout: output,
    output,
    exports: {
      ...tally.exports,
      ...(streamed === undefined ? {} : { streaming_output: authored(streamed) }),
    },
  }
}
