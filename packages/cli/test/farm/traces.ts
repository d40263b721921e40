import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** What commands wrote down in their folder: the world as it was, beside what the records say. */

interface Moment {
  readonly at: bigint
  readonly change: 1 | -1
}

/** Most commands of the module `stamp` that ran at the same time. */
export async function mostAtOnce(folder: string): Promise<number> {
  const moments: Moment[] = []
  for (const file of (await readdir(folder)).filter((name) => /\.(began|ended)$/.test(name))) {
    const at = (await readFile(join(folder, file), 'utf8')).trim()
    // A command that was killed while it wrote leaves an empty file.
    if (at !== '') moments.push({ at: BigInt(at), change: file.endsWith('.began') ? 1 : -1 })
  }
  moments.sort((a, b) => Number(a.at - b.at))
  let now = 0
  let most = 0
  for (const { change } of moments) {
    now += change
    most = Math.max(most, now)
  }
  return most
}

/** What commands have written there, line by line; a file that was opened and not written yet has none. */
const linesOf = (file: string): string[] =>
  existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []

/** Targets in the order in which commands of the module `gate`, or waiting ones of `held`, began. */
export const begun = (folder: string): string[] => linesOf(join(folder, 'began'))

/** Commands of the module `stamp` that have begun. */
export const stamped = (folder: string): number =>
  readdirSync(folder).filter((name) => name.endsWith('.began')).length

/** Makes the commands of the module `held` wait for the gate on these targets. */
export const hold = async (folder: string, targets: readonly string[]): Promise<void> => {
  for (const target of targets) await writeFile(join(folder, `hold-${target}`), '')
}

/** Lets the commands of the modules `gate`, `held` and `stamp` end. */
export const openGate = (folder: string): Promise<void> => writeFile(join(folder, 'open'), '')

/** Pids that the module `tree` wrote for a target. */
export const pidsOf = (folder: string, target: string): number[] =>
  linesOf(join(folder, `${target}.pids`)).map(Number)

/** Whether a process lives; one that only waits to be reaped does not. */
export const lives = (pid: number): boolean => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2))
  } catch {
    return false
  }
}
