/** Timers of Node take at most this many milliseconds, and fire at once above. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/**
 * Rings once after any time, by the monotonic clock and never early: a timer of Node counts whole milliseconds and may
 * be one ahead. Disposing it before means silence.
 */
export function startAlarm(ms: number, ring: () => void): Disposable {
  const due = performance.now() + ms
  let timer: NodeJS.Timeout
  const sleep = (): void => {
    timer = setTimeout(look, Math.min(Math.max(due - performance.now(), 0), LONGEST_TIMER_MS))
  }
  const look = (): void => (performance.now() < due ? sleep() : ring())
  sleep()
  return { [Symbol.dispose]: () => clearTimeout(timer) }
}
