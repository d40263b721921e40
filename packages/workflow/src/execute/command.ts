import { existsSync } from 'node:fs'
import type { Outcome, Runner, RunnerType } from '@scanfarm/contracts'
import { makeFolder } from '../functions/files.ts'
import { Capture } from './capture.ts'
import { inSeconds } from './duration.ts'
import type { StepRun } from './place.ts'
import type { Run } from './run.ts'
import { failed, type StepEnd } from './step-end.ts'
import { interruption, signalOf } from './step-limit.ts'

export interface CommandOptions {
  readonly timeoutMs?: number | undefined
  readonly cwd?: string
  /** Also gets every chunk, in order. */
  readonly tee?: (chunk: Buffer) => void | Promise<void>
}

const describe = (outcome: Exclude<Outcome, { kind: 'exited' | 'cancelled' }>, timeoutMs: number): string => {
  switch (outcome.kind) {
    case 'timed-out':
      return `command timed out after ${inSeconds(timeoutMs)}s`
    case 'signalled':
      return `command was killed by ${outcome.signal}${outcome.reason === undefined ? '' : `: ${outcome.reason}`}`
    case 'not-started':
      return `command could not start: ${outcome.reason}`
    case 'lost':
      return `command was lost: ${outcome.reason}`
  }
}

/**
 * The environment of commands, with the folder of the operator's own programs in front of PATH. PATH and HOME of this
 * machine mean nothing in a container or on another host, which have their own.
 */
export const environmentOf = (run: Run, type: RunnerType = 'host'): Readonly<Record<string, string>> => {
  const { env, folders } = run.input
  if (type !== 'host') {
    const { PATH: _, HOME: __, ...elsewhere } = env
    return { ...elsewhere, ...run.env }
  }
  const { binaries = '' } = folders
  const path = run.env['PATH'] ?? env['PATH'] ?? ''
  return binaries === '' ? { ...env, ...run.env } : { ...env, ...run.env, PATH: `${binaries}:${path}` }
}

/**
 * Where commands on this machine begin: with the run's files, as relative paths of functions do. A command may have
 * removed the folder. Elsewhere the runner knows it.
 */
export const startFolder = async (run: Run, type: RunnerType): Promise<string | undefined> => {
  if (type !== 'host') return undefined
  const { output } = run.input.folders
  if (!existsSync(output)) await makeFolder(output, run.input)
  return output
}

/** Runs one shell command to its end; what it writes goes to the step's row as it comes. */
export const runCommand = async (
  at: StepRun,
  runner: Runner,
  command: string,
  { timeoutMs, cwd, tee }: CommandOptions,
): Promise<StepEnd> => {
  const { run } = at.module
  const { recorder } = run.input
  const capture = new Capture(run.limits.captureBytes)
  const quiet = at.step.suppress_details === true
  let pid = 0
  await run.files.beforeCommand(runner)
  const folder = cwd ?? (await startFolder(run, runner.type))
  const outcome = await runner.run(
    {
      argv: ['/bin/sh', '-c', command],
      env: environmentOf(run, runner.type),
      graceMs: run.limits.graceMs,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(folder === undefined ? {} : { cwd: folder }),
    },
    {
      signal: signalOf(at),
      onStart(started) {
        pid = started
        run.pidStarted(started)
      },
      onOutput(stream, chunk) {
        capture.add(stream, chunk)
        const recorded = quiet ? undefined : recorder.output(at.key, stream, chunk)
        const copied = tee?.(chunk)
        return copied === undefined ? recorded : Promise.all([recorded, copied]).then(() => undefined)
      },
    },
  )
  if (pid !== 0) run.pidEnded(pid)
  run.files.afterCommand(runner)
  return toEnd(at, outcome, capture, timeoutMs ?? 0)
}

/** Codes by which a shell says that it could not start a program, and what it writes behind the name of the program then. */
const SHELL_REASONS: Readonly<Record<number, { readonly words: string; readonly end: RegExp }>> = {
  126: { words: 'permission denied', end: /: permission denied$/i },
  127: { words: 'command not found', end: /: (?:command )?not found$/i },
}

const MAX_REASON = 200
// Colours and cursor movements, then what else does not print.
const UNPRINTABLE = /\u001b\[[\d;?]*[a-z]|\p{Cc}/giu

/** The last line that a command wrote to standard error, which usually says why it failed. */
const reasonOf = ({ run }: StepRun['module'], code: number, capture: Capture): string => {
  if (capture.isTruncated('stderr')) return ''
  // Masked before anything is taken out of it: a secret may have tabs and several lines.
  const last = run.mask.text(capture.text('stderr')).trimEnd().split('\n').at(-1) ?? ''
  const known = SHELL_REASONS[code]
  const end = known?.end.exec(last)?.index ?? 0
  const name = last.slice(0, end).split(/[\s:]/).at(-1) ?? ''
  const reason = known === undefined || name === '' ? last : `${known.words}: ${name}`
  return run.recordable(reason.replaceAll(UNPRINTABLE, '').trim(), MAX_REASON)
}

const toEnd = (at: StepRun, outcome: Outcome, capture: Capture, timeoutMs: number): StepEnd => {
  const { run } = at.module
  if (outcome.kind === 'cancelled' || outcome.kind === 'timed-out') {
    for (const killed of outcome.killed) run.killed.add(killed)
  }
  if (outcome.kind === 'cancelled') return interruption(at)
  const written = { stdout: capture.text('stdout').trimEnd(), output: capture.output }
  if (outcome.kind !== 'exited') return { ...failed(describe(outcome, timeoutMs)), ...written }
  if (outcome.code === 0) return { kind: 'done', exitCode: 0, ...written }
  return {
    kind: 'failed',
    error: [
      `command exited with code ${outcome.code}`,
      at.step.suppress_details === true ? '' : reasonOf(at.module, outcome.code, capture),
    ]
      .filter(Boolean)
      .join(': '),
    exitCode: outcome.code,
    ...written,
  }
}
