import { readdirSync, readFileSync } from 'node:fs'

const commandLine = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1')
  } catch {
    // It has ended.
    return ''
  }
}

/**
 * Processes of this machine with the word in their command line; those in containers show here, too. Reads without
 * turns of the event loop, which would take ten times as much processor time.
 */
export const alive = (word: string): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && commandLine(name).split('\0').includes(word))
    .map(Number)
