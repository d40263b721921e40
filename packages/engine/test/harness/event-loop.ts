import { monitorEventLoopDelay } from 'node:perf_hooks'

/** The longest time, in milliseconds, for which the event loop did not turn during the work. */
export const longestDelay = async (work: () => Promise<unknown>): Promise<number> => {
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  try {
    await work()
    // The last stretch of work is measured by the next turn.
    await new Promise((resolve) => setTimeout(resolve, 20))
  } finally {
    delay.disable()
  }
  return delay.max / 1e6
}
