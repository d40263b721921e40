import type { Runner } from '@scanfarm/contracts'
import { runCommand, type CommandOptions } from '../runner/command.ts'
import { parseDuration } from '@scanfarm/language'
import { type StepContext, interruption, signalOf } from '../step/step-context.ts'
import { pool } from '../step/pool.ts'
import { renderPlain, renderShell } from '../step/render.ts'
import { scopeOf, sideBySide } from '../step/side-by-side.ts'
import type { StepEnd } from '../step/step-end.ts'
import { teeFile, type TeeFile } from '../step/tee-file.ts'

/** The rendered commands of a step, by precedence: `parallel_commands`, `commands`, `command`. */
export interface Commands {
  readonly list: readonly string[]
  readonly parallel: boolean
  readonly timeoutMs: number | undefined
  readonly stdFile: string
}

export const renderCommands = (at: StepContext): Commands => {
  const { step, scope } = at
  const count = (step.parallel_commands ?? []).length
  const parallel = count > 0
  const shown = parallel ? scopeOf(at, count) : scope
  const shell = (text: string) => renderShell(text, shown)
  const args = [step.speed_args, step.config_args, step.input_args, step.output_args]
  const single =
    step.command === undefined
      ? []
      : [[step.command, ...args.filter((arg) => arg !== undefined && arg !== '')].join(' ')]
  const list = parallel
    ? (step.parallel_commands ?? [])
    : (step.commands ?? []).length > 0
      ? (step.commands ?? [])
      : single
  return {
    list: list.map(shell),
    parallel,
    timeoutMs: parseDuration(renderPlain(step.timeout ?? '', scope)) || undefined,
    stdFile: renderPlain(step.std_file ?? '', scope),
  }
}

const sequential = async (
  at: StepContext,
  runner: Runner,
  commands: readonly string[],
  options: CommandOptions,
): Promise<StepEnd[]> => {
  const ends: StepEnd[] = []
  for (const command of commands) {
    if (signalOf(at).aborted) return [...ends, interruption(at)]
    const end = await runCommand(at, runner, command, options)
    ends.push(end)
    if (end.kind !== 'done') break
  }
  return ends
}

const parallel = async (
  at: StepContext,
  runner: Runner,
  commands: readonly string[],
  options: CommandOptions,
): Promise<StepEnd[]> => {
  const { run } = at.module
  const ends: StepEnd[] = []
  await sideBySide(at, commands.length, (context) =>
    pool(
      commands,
      run.limits.parallel,
      async (command, index) => {
        ends[index] = await runCommand(context(), runner, command, options)
      },
      () => !signalOf(at).aborted,
    ),
  )
  return signalOf(at).aborted ? [...ends, interruption(at)] : ends
}

/** Combines results: the first failure if there is one, and all outputs in the order of the list. */
export const combine = (ends: readonly StepEnd[]): StepEnd => {
  const join = (key: 'stdout' | 'output') =>
    ends
      .map((end) => ('output' in end ? (end[key] ?? '') : ''))
      .filter((text) => text !== '')
      .join('\n')
  const bad = ends.find(({ kind }) => kind === 'cancelled') ?? ends.find(({ kind }) => kind !== 'done')
  const written = { stdout: join('stdout'), output: join('output') }
  if (bad?.kind === 'failed') return { ...bad, ...written }
  const blocked = ends
    .map((end) => (end.kind === 'done' ? end.blocked : undefined))
    .find((text) => text !== undefined)
  return bad ?? { kind: 'done', exitCode: 0, blocked, ...written }
}

/** Runs commands in the runner of the module. */
export const runCommands = async (
  at: StepContext,
  runner: Runner,
  { list, parallel: isParallel, timeoutMs, stdFile }: Commands,
): Promise<StepEnd> => {
  const [first, ...more] = list
  const { input, mask } = at.module.run
  const file: TeeFile | undefined = stdFile === '' ? undefined : await teeFile(stdFile, input, mask)
  const options: CommandOptions = { timeoutMs, ...(file === undefined ? {} : { tee: file.write }) }
  try {
    if (first !== undefined && more.length === 0) return await runCommand(at, runner, first, options)
    return combine(
      isParallel ? await parallel(at, runner, list, options) : await sequential(at, runner, list, options),
    )
  } finally {
    await file?.close()
    if (file !== undefined) at.module.run.files.afterLocal()
  }
}
