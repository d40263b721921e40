/**
 * Waits for the first of cancel, by any of the signals, and time limit. `stopped` never settles when neither comes
 * before `close()`. Listens to each signal: one composed of long-lived ones is held by them until the garbage of many
 * commands is collected.
 */
export interface StopWatch {
  readonly stopped: Promise<'cancelled' | 'timed-out'>
  close(): void
}

/** Node fires at once what is set further ahead than this; a limit beyond 24 days is none. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

export function watchForStop(signals: readonly AbortSignal[], timeoutMs: number | undefined): StopWatch {
  const { promise: stopped, resolve } = Promise.withResolvers<'cancelled' | 'timed-out'>()
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
    stopped,
    close() {
      clearTimeout(timer)
      for (const signal of signals) signal.removeEventListener('abort', onAbort)
    },
  }
}

/** Whether the promise settles in time. Its rejection counts as settling and stays with its owner. */
export async function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const late = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => late.resolve(false), ms)
  try {
    return await Promise.race([
      promise.then(
        () => true,
        () => true,
      ),
      late.promise,
    ])
  } finally {
    clearTimeout(timer)
  }
}
