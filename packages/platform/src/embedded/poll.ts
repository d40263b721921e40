import { setTimeout as sleep } from 'node:timers/promises'

const STEP_MS = 10

/** Asks again and again until there is an answer; `undefined` when there was none in time. */
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
