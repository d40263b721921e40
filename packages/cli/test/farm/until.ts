import { setTimeout as delay } from 'node:timers/promises'

const POLL_MS = 25

/**
 * Waits until `ask` gives something other than undefined or false, and returns it. Rejects after `limitMs`, naming what
 * was waited for and the last error of `ask`.
 */
export async function until<T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  limitMs = 120_000,
  pollMs = POLL_MS,
): Promise<T> {
  const deadline = performance.now() + limitMs
  let lastError: unknown
  while (performance.now() < deadline) {
    try {
      const answer = await ask()
      if (answer !== undefined && answer !== false) return answer
    } catch (error) {
      lastError = error
    }
    await delay(pollMs)
  }
  throw new Error(`gave up after ${limitMs} ms waiting until ${what}`, { cause: lastError })
}
