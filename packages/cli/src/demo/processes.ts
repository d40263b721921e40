import { setTimeout as delay } from 'node:timers/promises'

const STOP_MS = 20_000
const POLL_MS = 100

export const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Sends TERM, and KILL after 20 s. */
export async function stop(pid: number): Promise<void> {
  if (!alive(pid)) return
  process.kill(pid, 'SIGTERM')
  const deadline = Date.now() + STOP_MS
  while (alive(pid) && Date.now() < deadline) await delay(POLL_MS)
  if (alive(pid)) process.kill(pid, 'SIGKILL')
}
