/** Timers of Node take at most this many milliseconds, and fire at once above. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** Rings once after any time, by the monotonic clock. Disposing it before means silence. */
export function startAlarm(ms: number, ring: () => void): Disposable {
  const due = performance.now() + ms
  let timer: NodeJS.Timeout
  const sleep = (): void => {
    const left = due - performance.now()
    timer = setTimeout(left > LONGEST_TIMER_MS ? sleep : ring, Math.min(Math.max(left, 0), LONGEST_TIMER_MS))
  }
  sleep()
  return { [Symbol.dispose]: () => clearTimeout(timer) }
}
