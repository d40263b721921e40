/** Some providers say for a moment that a machine is off between its making and its first start. */
const FIRST_START_MS = 300_000

/** State of a machine that is off. It is no use any more, unless it is so young that it is about to start. */
export function stateOfOff(createdAt: string, nowMs: number = Date.now()): 'starting' | 'stopping' {
  return nowMs - Date.parse(createdAt) < FIRST_START_MS ? 'starting' : 'stopping'
}
