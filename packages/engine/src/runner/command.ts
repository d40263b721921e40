import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import type { Command, CommandIo, Outcome, Runner, RunnerType } from '@scanfarm/contracts'
import { makeFolder } from '@scanfarm/functions'
import { Capture } from './capture.ts'
import { inSeconds } from '@scanfarm/language'
import { type StepContext, interruption, signalOf, turnsOf } from '../step/step-context.ts'
import type { Run } from '../flow/run.ts'
import { failed, type StepEnd } from '../step/step-end.ts'
import type { Turns } from './turns.ts'

export interface CommandOptions {
  readonly timeoutMs?: number | undefined
  readonly cwd?: string
  /** Receives a copy of every chunk, in order. */
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
 * The environment of commands, with the operator's own programs first in PATH. PATH and HOME of this machine are not
 * passed to containers and remote hosts, which have their own.
 */
export const environmentOf = (
  run: Run,
  type: RunnerType = 'host',
  turns = run.turns,
): Readonly<Record<string, string>> => {
  const { folders, rateVariables } = run.input
  const isPart = turns !== undefined && turns !== run.turns
  const env = isPart ? { ...run.input.env, ...rateVariables?.(turns.rate) } : run.input.env
  if (type !== 'host') {
    const { PATH: _, HOME: __, ...elsewhere } = env
    return { ...elsewhere, ...run.env }
  }
  const { binaries = '' } = folders
  const path = run.env['PATH'] ?? env['PATH'] ?? ''
  return binaries === '' ? { ...env, ...run.env } : { ...env, ...run.env, PATH: `${binaries}:${path}` }
}

/**
 * The working folder of commands on this machine: the run's folder, to which relative paths of functions also refer. It
 * is created again if a command has removed it. Undefined for other runners, which choose it themselves.
 */
export const startFolder = async (run: Run, type: RunnerType): Promise<string | undefined> => {
  if (type !== 'host') return undefined
  const { output } = run.input.folders
  if (!existsSync(output)) await makeFolder(output, run.input)
  return output
}

/** Runs a command; where the rate of the run is limited, when it is its turn. */
export const inTurn = async <T>(
  turns: Turns | undefined,
  signal: AbortSignal,
  command: () => Promise<T>,
): Promise<T> => (turns === undefined ? await command() : await turns.take(signal, command))

/** Runs a program when it is its turn, and notes its process and those that were killed with it. */
export const runProgram = async (
  run: Run,
  runner: Runner,
  program: Pick<Command, 'argv' | 'timeoutMs' | 'cwd'>,
  { turns, signal, onOutput }: Pick<CommandIo, 'signal' | 'onOutput'> & { turns: Turns | undefined },
): Promise<Outcome> => {
  let pid = 0
  const onStart = (started: number): void => {
    if (pid !== 0) run.pidEnded(pid)
    pid = started
    run.pidStarted(started)
  }
  const command = { ...program, env: environmentOf(run, runner.type, turns), graceMs: run.limits.graceMs }
  const outcome = await inTurn(turns, signal, () => runner.run(command, { signal, onStart, onOutput }))
  if (pid !== 0) run.pidEnded(pid)
  if ('killed' in outcome) for (const killed of outcome.killed) run.killed.add(killed)
  return outcome
}

/** Runs one shell command to its end and records its output as it arrives. */
export const runCommand = async (
  at: StepContext,
  runner: Runner,
  command: string,
  { timeoutMs, cwd, tee }: CommandOptions,
): Promise<StepEnd> => {
  const { run } = at.module
  const { recorder } = run.input
  const capture = new Capture(run.limits.captureBytes)
  const quiet = at.step.suppress_details === true
  await run.files.beforeCommand(runner)
  const program = {
    argv: ['/bin/sh', '-c', command],
    timeoutMs,
    cwd: cwd ?? (await startFolder(run, runner.type)),
  }
  const outcome = await runProgram(run, runner, program, {
    turns: turnsOf(at),
    signal: signalOf(at),
    onOutput(stream, chunk) {
      capture.add(stream, chunk)
      const recorded = quiet ? undefined : recorder.output(at.key, stream, chunk)
      const copied = tee?.(chunk)
      return copied === undefined ? recorded : Promise.all([recorded, copied]).then(() => undefined)
    },
  })
  run.files.afterCommand(runner)
  const blocked = outcome.kind === 'exited' ? outcome.blocked : undefined
  if (blocked !== undefined) at.trace?.failed(blocked)
  return toEnd(at, outcome, capture, timeoutMs ?? 0)
}

/** Exit codes of a shell that could not start a program, and the message that follows the program's name. */
const SHELL_REASONS: Readonly<Record<number, { readonly words: string; readonly end: RegExp }>> = {
  126: { words: 'permission denied', end: /: permission denied$/i },
  127: { words: 'command not found', end: /: (?:command )?not found$/i },
}

const MAX_REASON = 200
// Escape sequences of terminals, then other control characters.
const UNPRINTABLE = /\u001b\[[\d;?]*[a-zA-Z]|[\0-\u001f\u007f-\u009f]/g

/** Words of a line that names an error, and the last lines among which it is searched for. */
const ERROR =
  /error|fatal|fail|panic|exception|cannot|can't|could not|unable|denied|refused|invalid|not found/i
const LAST_LINES = 10

/** The last of these lines that names an error, or else the last line: some programs say goodbye, or trace their calls. */
const errorLine = (lines: readonly string[]): string =>
  lines.slice(-LAST_LINES).findLast((line) => ERROR.test(line)) ?? lines.at(-1) ?? ''

/** The line of standard error with the reason for the failure. */
const reasonOf = ({ run }: StepContext['module'], code: number, capture: Capture): string => {
  if (capture.isTruncated('stderr')) return ''
  // Masked first, because a secret may contain tabs and line breaks.
  const lines = run.mask.text(capture.text('stderr')).trimEnd().split('\n')
  const last = lines.at(-1) ?? ''
  const known = SHELL_REASONS[code]
  const end = known?.end.exec(last)?.index ?? 0
  const name = last.slice(0, end).split(/[\s:]/).at(-1) ?? ''
  const reason = known === undefined || name === '' ? errorLine(lines) : `${known.words}: ${name}`
  return run.recordable(reason.replaceAll(UNPRINTABLE, '').trim(), MAX_REASON)
}

const SIGNALS: Readonly<Record<string, number>> = constants.signals

/** As shells report it: 128 and the number of the signal for a program that a signal has ended. */
export const exitCodeOf = (outcome: Outcome): number | undefined => {
  if (outcome.kind === 'exited') return outcome.code
  if (outcome.kind !== 'signalled') return undefined
  // Real-time signals have no names: `signal 34`.
  const number = SIGNALS[outcome.signal] ?? Number(/\d+$/.exec(outcome.signal)?.[0])
  return Number.isNaN(number) ? undefined : 128 + number
}

const toEnd = (at: StepContext, outcome: Outcome, capture: Capture, timeoutMs: number): StepEnd => {
  if (outcome.kind === 'cancelled') return interruption(at)
  const written = { stdout: capture.text('stdout').trimEnd(), output: capture.output }
  const exitCode = exitCodeOf(outcome)
  if (outcome.kind !== 'exited')
    return {
      ...failed(describe(outcome, timeoutMs)),
      exitCode,
      ...written,
    }
  const { blocked } = outcome
  if (outcome.code === 0) return { kind: 'done', exitCode: 0, blocked, ...written }
  return {
    kind: 'failed',
    error: [
      `command exited with code ${outcome.code}`,
      at.step.suppress_details === true ? '' : reasonOf(at.module, outcome.code, capture),
      blocked,
    ]
      .filter(Boolean)
      .join(': '),
    exitCode: outcome.code,
    ...written,
  }
}
