import { readFileSync } from 'node:fs'

const STATE = 0
const STARTED_AT = 19

/**
 * `<pid>-<start time>`: unlike a pid alone, never another process later. `undefined` when no such process runs; a
 * zombie does not run.
 */
export const identityOf = (pid: number): string | undefined => {
  let stat: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return undefined
  }
  // The program's name stands in parentheses and may hold anything, blanks and parentheses included.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields[STATE] === 'Z' || fields[STATE] === 'X' ? undefined : `${pid}-${fields[STARTED_AT]}`
}

export const isAlive = (identity: string): boolean => identityOf(Number.parseInt(identity, 10)) === identity

/** Sends a signal; a process that has ended meanwhile needs none. */
export const signalTo = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
