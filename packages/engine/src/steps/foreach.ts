import { isThere, runPath, linesOf, type FileScope } from '@scanfarm/functions'
import { namesHost } from '@scanfarm/contracts'
import { authored, data, fromJson, toJson, type StepType, type Value } from '@scanfarm/language'
import { evaluate } from '../step/evaluate.ts'
import { inTurn } from '../runner/command.ts'
import { type StepContext, interruption, signalOf, turnsOf } from '../step/step-context.ts'
import { pool } from '../step/pool.ts'
import { renderPlain } from '../step/render.ts'
import { rowsOfFailures, show } from '../step/row.ts'
import { keptValue, valueOf } from '../flow/kept-unit.ts'
import type { Run } from '../flow/run.ts'
import { Scope } from '../flow/scope.ts'
import type { BatchAnswer, BatchWork, SpreadLoop } from '../flow/spread.ts'
import { UnitTrace } from '../flow/tally.ts'
import { failed, type StepEnd } from '../step/step-end.ts'
import { teeFile, type TeeFile } from '../step/tee-file.ts'
import { ItemOutputs } from './item-outputs.ts'
import { ItemTally } from './item-tally.ts'
import { openLedger, type Ledger } from './ledger.ts'
import { loopVariables, withLoopSyntax } from './loop-variables.ts'

export interface Loop {
  readonly input: string
  /** Undefined: as many as there are free slots. */
  readonly threads: number | undefined
}

/** Throws `RenderError`. An invalid number of threads is reported by `runForeach`. */
export const renderLoop = ({ step, scope }: StepContext): Loop => {
  const threads = renderPlain(step.threads ?? '', scope).trim()
  return {
    input: renderPlain(step.input ?? '', scope),
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
const valueOfItem = async (at: StepContext, variable: string, item: string): Promise<Value> => {
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
  const spread = await runSpread(at, () => items(path, run.input))
  if (spread !== undefined) return spread
  const tally = new ItemTally()
  const { ledger, begun } = await openLedger(
    at,
    () => items(path, run.input),
    () => tally.counts,
  )
  const outputs = new ItemOutputs(run.limits.captureBytes)
  if (begun !== undefined) {
    tally.restore(begun.items.counts)
    await joinOutputs(at, outputs, begun.items)
  }
  const inner = ledger === undefined || at.trace === undefined ? at : { ...at, trace: ledger.trace }
  await runItems(inner, {
    items: openItems(items(path, run.input), ledger),
    width: widthOf(run, threads),
    tally,
    outputs,
    rows: begun?.rows,
    isFirst: begun === undefined,
    ended: async (index, text) => await ledger?.itemEnded(index, text),
  })
  return await endOf(at, tally, outputs)
}

/** Steps that contain others show nothing themselves. */
const CONTAINERS: ReadonlySet<string> = new Set<StepType>(['parallel-steps', 'foreach'])

/** Outputs of items that were not executed here. */
const joinOutputs = async (
  at: StepContext,
  outputs: ItemOutputs,
  { outputs: further }: Pick<BatchAnswer, 'outputs'>,
): Promise<void> => {
  const { step = at.step } = at.step
  for (const [index, text] of further) {
    outputs.add(index, text)
    if (!CONTAINERS.has(step.type)) await show({ ...at, step }, text)
  }
}

const streamingOf = ({ step, scope }: StepContext): string =>
  renderPlain(step.exports?.['streaming_output'] ?? '', scope)

/** Lets other workers execute the items. Undefined: they are executed here. */
const runSpread = async (at: StepContext, all: () => AsyncIterable<string>): Promise<StepEnd | undefined> => {
  const { run, name, runner, exported } = at.module
  const { spread, resume } = run.input
  const { enabled = true, batch = 'auto', workers } = at.step.spread ?? { enabled: false }
  if (!enabled || spread === undefined || resume === undefined) return undefined
  // Its batches would not know that it has only a part of the rate.
  if (at.turns !== undefined) return undefined
  // An earlier attempt has begun to execute them itself.
  if (resume.findItems(at.key) !== undefined) return undefined
  const ports = await resume.remember('ports', () => ({ now: run.ports.now().getTime(), random: [0] }))
  const tally = new ItemTally()
  const outputs = new ItemOutputs(run.limits.captureBytes)
  const answered = async (answer: BatchAnswer): Promise<void> => {
    tally.join(answer)
    await joinOutputs(at, outputs, answer)
    for (const [variable, value, isExported] of answer.variables) {
      at.module.scope.set(variable, valueOf(value))
      if (isExported) exported.add(variable)
    }
    Object.assign(run.env, answer.env)
    if (answer.worked) at.trace?.worked()
    if (answer.error !== undefined) at.trace?.failed(answer.error)
  }
  const loop: SpreadLoop = {
    state: {
      key: at.key,
      step: at.step,
      module: name,
      runner,
      variables: [...at.scope.all()].map(([variable, value]) => [variable, keptValue(value)]),
      env: { ...run.env },
      ...ports,
    },
    items: all,
    // Batches append to it.
    begin: async () => {
      const streaming = streamingOf(at)
      if (streaming !== '') await (await teeFile(streaming, run.input, run.mask)).close()
    },
    size: batch === 'auto' ? undefined : Number(batch),
    workers,
    mostRows: run.limits.foreachFailedRows,
    signal: signalOf(at),
    nextSeq: () => run.nextSeq(),
    answered,
  }
  const error = await inTurn(turnsOf(at), signalOf(at), () => spread.run(loop))
  if (error === undefined) return undefined
  return error === '' ? await endOf(at, tally, outputs) : failed(error)
}

/** Executes some items of a loop of another run. */
export const runBatch = async (
  at: StepContext,
  { items: own, enough, answer }: BatchWork,
): Promise<StepEnd> => {
  const { run, scope, exported } = at.module
  const tally = new ItemTally()
  const outputs = new ItemOutputs(run.limits.captureBytes)
  const trace = new UnitTrace(at.trace)
  scope.trackChanges()
  const { batch = 'auto', workers } = at.step.spread ?? {}
  const { threads } = renderLoop(at)
  // Such batches fill all slots. One item after the other, lines that items append follow the order of the items.
  const isAlone = threads === undefined && batch === 'auto' && workers === undefined
  const width = isAlone ? 1 : widthOf(run, threads)
  let begun = 0
  const open = new Set<number>()
  const noted = async function* (): AsyncGenerator<{ item: string; index: number }> {
    for await (const one of own()) {
      if (enough.aborted) return
      begun = one.index + 1
      open.add(one.index)
      yield one
    }
  }
  await runItems(
    { ...at, trace },
    {
      items: noted(),
      width,
      tally,
      outputs,
      isFirst: false,
      ended: async (index) => await Promise.resolve(void open.delete(index)),
    },
  )
  const end = await endOf(at, tally, outputs)
  const variables = scope.takeChanges()
  answer(
    {
      counts: tally.counts,
      outputs: outputs.entries,
      worked: trace.hasWorked,
      error: trace.error,
      skip: tally.skipModule?.message,
      variables: variables.map(([name, value]) => [name, keptValue(value), exported.has(name)]),
      env: { ...run.env },
    },
    begun,
    [...open],
  )
  return end
}

interface ItemsToRun {
  readonly items: AsyncIterable<{ readonly item: string; readonly index: number }>
  readonly width: number
  readonly tally: ItemTally
  readonly outputs: ItemOutputs
  /** Failed items that have a row already. */
  readonly rows?: number | undefined
  /** Whether the file of `streaming_output` begins empty. */
  readonly isFirst: boolean
  /** `text`: its output, if that is kept. */
  ended?(index: number, text: string): Promise<void>
}

const runItems = async (at: StepContext, { isFirst, ...work }: ItemsToRun): Promise<void> => {
  const { run } = at.module
  const streaming = streamingOf(at)
  const mode = isFirst ? 'new' : 'append'
  const file = streaming === '' ? undefined : await teeFile(streaming, run.input, run.mask, mode)
  try {
    await loop(at, work, file)
  } finally {
    await file?.close()
  }
}

const loop = async (
  at: StepContext,
  { items: own, width, tally, outputs, rows: rowsBefore, ended }: Omit<ItemsToRun, 'isFirst'>,
  file: TeeFile | undefined,
): Promise<void> => {
  const { run } = at.module
  const { slots } = run.input
  const variable = at.step.variable ?? 'item'
  const inner = withLoopSyntax(at.step.step ?? { name: 'item', type: 'bash' }, variable)
  const rowsOfItem = rowsOfFailures(run.limits.foreachFailedRows, rowsBefore, at.afterItem)
  await pool(
    own,
    width,
    async ({ item, index }) => {
      const scope = new Scope(at.scope)
      const value = await valueOfItem(at, variable, item)
      const refusal = await refusalOf(at, item, value)
      if (refusal !== undefined) {
        tally.refused++
        at.trace?.failed(`${item}: ${refusal}`)
        return void (await ended?.(index, ''))
      }
      scope.setAll(loopVariables(variable, value, index + 1))
      const rows = rowsOfItem()
      const { afterItem } = rows
      const outcome = await at.module.runStep({ ...at, step: inner, scope, afterItem }, rows.open)
      const hasEnded = !signalOf(at).aborted
      const text = 'output' in outcome && outcome.output !== '' ? `${outcome.output}\n` : ''
      if (text !== '' && !run.signal.aborted) await file?.write(Buffer.from(text))
      const isRepeated = !hasEnded && run.signal.aborted
      // From here on without a pause: what is noted of the loop has all of an item or nothing.
      rows.record(!isRepeated)
      if (isRepeated) return
      tally.add(outcome)
      const isKept = text !== '' && outputs.add(index, text)
      if (hasEnded) await ended?.(index, isKept ? text : '')
    },
    () => !signalOf(at).aborted && tally.skipModule === undefined,
    slots && ((over) => slots.take(over)),
  )
}

const endOf = async (at: StepContext, tally: ItemTally, outputs: ItemOutputs): Promise<StepEnd> => {
  const { run } = at.module
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
