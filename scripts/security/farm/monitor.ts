// Loaded into every program of the attacked farm with --import. Writes a line for each time that its event loop was blocked.
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { isMainThread } from 'node:worker_threads'

const TICK_MS = 10
/** Shorter ones are not worth a line. The suite refuses longer ones from `MAX_BLOCK_MS` on. */
const RECORDED_MS = 50

const folder = process.env['SCANFARM_MONITOR_FOLDER']

/**
 * Two busy cores keep a process from running for longer than any request does. A turn of the loop therefore counts by the
 * processor time of its thread, which waiting for a core does not add to.
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
