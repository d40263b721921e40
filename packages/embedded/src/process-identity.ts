import { readFileSync } from 'node:fs'

const STATE = 0
const STARTED_AT = 19

/** `<pid>-<start time>`, which no later process has. `undefined`: the process does not run or is a zombie. */
export const identityOf = (pid: number): string | undefined => {
  let stat: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return undefined
  }
  // The name of the program is in parentheses and may contain any character, including spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields[STATE] === 'Z' || fields[STATE] === 'X' ? undefined : `${pid}-${fields[STARTED_AT]}`
}

export const isAlive = (identity: string): boolean => identityOf(Number.parseInt(identity, 10)) === identity

/** Sends a signal. A process that has already exited is ignored. */
export const signalTo = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
