import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The longest time for which a request, event or step may block an event loop. */
export const MAX_BLOCK_MS = 200

export interface Block {
  /** End of the turn, in milliseconds since 1970. */
  readonly at: number
  /** CPU time of the main thread in one turn of its event loop. */
  readonly blockedMs: number
  readonly pid: number
}

/** The blocks of these processes that their monitors have recorded since `since`. */
export const blocksSince = (folder: string, pids: readonly number[], since: number): Block[] =>
  readdirSync(folder)
    .filter((name) => pids.includes(Number.parseInt(name, 10)))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'))
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Block)
    .filter(({ at }) => at >= since)

const KIB = 1024

/** The maximum memory of the process so far, in bytes. */
export const peakBytes = (pid: number): number =>
  Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * KIB
