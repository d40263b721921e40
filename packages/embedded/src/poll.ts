import { setTimeout as sleep } from 'node:timers/promises'

const STEP_MS = 10

/** Calls `ask` until it returns a value. `undefined`: it returned none within the limit. */
export const poll = async <T>(
  ask: () => Promise<T | undefined> | T | undefined,
  limitMs: number,
): Promise<T | undefined> => {
  const until = performance.now() + limitMs
  for (;;) {
    const answer = await ask()
    if (answer !== undefined || performance.now() >= until) return answer
    await sleep(STEP_MS)
  }
}
