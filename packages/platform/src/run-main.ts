import { format } from 'node:util'
import type { Logger } from './logger.ts'

export interface MainOptions {
  readonly log: Logger
  /** Time limit of an orderly stop. After it, the process exits. */
  readonly stopMs: number
}

/** Exit codes of every program: 0 done or stopped in order, 1 failed, 128 + signal after a second signal. */
const SIGNAL_NUMBER = { SIGINT: 2, SIGTERM: 15 } as const
const KEEP_ALIVE_MS = 3_600_000
/** Longest text of a library in the log. */
const MOST_TEXT = 2_000
type StopSignal = keyof typeof SIGNAL_NUMBER

const isStopSignal = (name: string): name is StopSignal => name in SIGNAL_NUMBER

const deadline = (ms: number): { promise: Promise<'late'>; clear: () => void } => {
  const { promise, resolve } = Promise.withResolvers<'late'>()
  const timer = setTimeout(() => resolve('late'), ms)
  return { promise, clear: () => clearTimeout(timer) }
}

const stopInOrder = async (program: AsyncDisposable, { log, stopMs }: MainOptions): Promise<number> => {
  const limit = deadline(stopMs)
  try {
    const late = await Promise.race([program[Symbol.asyncDispose](), limit.promise])
    if (late === undefined) return 0
    log.error('the orderly stop exceeded its time limit, exiting now', { stop_ms: stopMs })
  } catch (error) {
    log.error('the orderly stop failed', { error })
  } finally {
    limit.clear()
  }
  return 1
}

/** Resolves with the first stop signal; a second one ends the process at once. */
const firstSignal = (log: Logger): { promise: Promise<StopSignal>; abort: AbortController } => {
  const { promise, resolve } = Promise.withResolvers<StopSignal>()
  const abort = new AbortController()
  const onSignal = (name: NodeJS.Signals): void => {
    if (!isStopSignal(name)) return
    if (abort.signal.aborted) process.exit(128 + SIGNAL_NUMBER[name])
    log.info('stopping', { signal: name })
    abort.abort()
    resolve(name)
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
  return { promise, abort }
}

const requested = async ({ stopRequested }: Program, log: Logger): Promise<'requested'> => {
  await (stopRequested ?? Promise.withResolvers().promise)
  log.info('stopping', { signal: 'a request over the API' })
  return 'requested'
}

/** Libraries print to the console, and Node prints warnings: both become entries of the log. */
const logLibraries = (log: Logger): void => {
  for (const level of ['warn', 'error'] as const)
    console[level] = (...parts: unknown[]) =>
      log[level]('a library reported', { text: format(...parts).slice(0, MOST_TEXT) })
  process.removeAllListeners('warning')
  process.on('warning', ({ name, message }) => log.warn('Node reported a warning', { name, text: message }))
}

const crashOnBug = (log: Logger): Promise<'crashed'> => {
  const { promise, resolve } = Promise.withResolvers<'crashed'>()
  const onBug = (error: unknown): void => {
    log.error('an unexpected error ends the program', { error })
    resolve('crashed')
  }
  process.on('uncaughtException', onBug)
  process.on('unhandledRejection', onBug)
  return promise
}

export interface Program extends AsyncDisposable {
  /** Resolves when something other than a signal asks the program to end. */
  readonly stopRequested?: Promise<unknown>
}

/**
 * Runs a long-running program: starts it, waits for SIGTERM, SIGINT or its `stopRequested`, stops it in order within `stopMs`, exits. The
 * signal of `start` aborts if the program is stopped while it starts. Never returns: the process exits.
 */
export const runMain = async (
  start: (stopping: AbortSignal) => Promise<Program>,
  options: MainOptions,
): Promise<never> => {
  // Signal handlers alone do not keep Node running.
  setInterval(() => undefined, KEEP_ALIVE_MS)
  const stop = firstSignal(options.log)
  const crash = crashOnBug(options.log)
  logLibraries(options.log)
  let program: Program
  try {
    program = await start(stop.abort.signal)
  } catch (error) {
    if (!stop.abort.signal.aborted) options.log.error('the program could not start', { error })
    process.exit(stop.abort.signal.aborted ? 0 : 1)
  }
  const reason = await Promise.race([stop.promise, crash, requested(program, options.log)])
  const code = await stopInOrder(program, options)
  process.exit(reason === 'crashed' ? 1 : code)
}
