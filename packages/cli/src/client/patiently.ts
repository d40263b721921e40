import { setTimeout as sleep } from 'node:timers/promises'
import { CliError, EXIT } from '../exit.ts'

const AGAIN_MS = 1_000
/** A server that restarts is away for a while; what is waited for does not end by that. */
const PATIENCE_MS = 120_000

/** Asks again while no server answers, for two minutes. */
export const patiently = async <T>(ask: () => Promise<T>): Promise<T> => {
  const until = performance.now() + PATIENCE_MS
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      const away = error instanceof CliError && error.exitCode === EXIT.unreachable
      if (!away || performance.now() > until) throw error
      await sleep(AGAIN_MS)
    }
  }
}
