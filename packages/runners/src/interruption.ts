/** Programs that get INT instead of TERM, with the time that they need to end; by names of processes. */
export type Interrupts = ReadonlyMap<string, number>

export interface StopOptions {
  /** Time between TERM and KILL if a command sets none; default 1000. */
  readonly graceMs?: number
  /** Programs that get INT instead of TERM, with the time that they then have to end at a time limit. */
  readonly interrupts?: Interrupts
}

const DEFAULT_GRACE_MS = 1_000

export const withDefaults = ({ graceMs, interrupts }: StopOptions): Required<StopOptions> => ({
  graceMs: graceMs ?? DEFAULT_GRACE_MS,
  interrupts: interrupts ?? new Map(),
})

/** The first of a cancel, by any of the signals, and the time limit. */
export interface Interruption extends Disposable {
  /** Never settles if the interruption is disposed of first. */
  readonly occurred: Promise<'cancelled' | 'timed-out'>
}

/** Node fires timers beyond this at once; a limit of more than 24 days counts as none. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/**
 * Listens to each signal instead of composing them: a composed signal is held by its long-lived sources until the
 * garbage of many commands is collected.
 */
export function watchInterruption(
  signals: readonly AbortSignal[],
  timeoutMs: number | undefined,
): Interruption {
  const { promise: occurred, resolve } = Promise.withResolvers<'cancelled' | 'timed-out'>()
  const onAbort = (): void => resolve('cancelled')
  const timer =
    timeoutMs === undefined || timeoutMs > LONGEST_TIMER_MS
      ? undefined
      : setTimeout(() => resolve('timed-out'), timeoutMs)
  for (const signal of signals) {
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
  }
  return {
    occurred,
    [Symbol.dispose]() {
      clearTimeout(timer)
      for (const signal of signals) signal.removeEventListener('abort', onAbort)
    },
  }
}
