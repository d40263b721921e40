// Loaded into every program of the attacked farm with `--import`. Writes a line whenever its event loop was blocked.
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { isMainThread } from 'node:worker_threads'

const TICK_MS = 10
/** Shorter blocks are not recorded. The attacks fail on blocks longer than `MAX_BLOCK_MS`. */
const RECORDED_MS = 50

const folder = process.env['SCANFARM_TEST_MONITOR_FOLDER']

/**
 * The CPU time of the thread is measured, because it does not include waiting for a core: on a busy machine a process
 * may wait longer than any request takes.
 */
const watch = (file: string): void => {
  let cpu = process.threadCpuUsage()
  let at = performance.now()
  setInterval(() => {
    const used = process.threadCpuUsage(cpu)
    const now = performance.now()
    const busyMs = (used.user + used.system) / 1_000
    const blockedMs = Math.min(busyMs, now - at - TICK_MS)
    if (blockedMs >= RECORDED_MS)
      appendFileSync(
        file,
        `${JSON.stringify({ at: Date.now(), blockedMs: Math.round(blockedMs), pid: process.pid })}\n`,
      )
    cpu = process.threadCpuUsage()
    at = now
  }, TICK_MS).unref()
}

if (isMainThread && folder !== undefined) watch(join(folder, `${process.pid}.jsonl`))
