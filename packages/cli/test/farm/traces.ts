import { existsSync, readFileSync } from 'node:fs'
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
  for (const file of await readdir(folder)) {
    const at = BigInt((await readFile(join(folder, file), 'utf8')).trim())
    moments.push({ at, change: file.endsWith('.began') ? 1 : -1 })
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

/** Targets in the order in which commands of the module `gate` began. */
export const begun = (folder: string): string[] => {
  const file = join(folder, 'began')
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
}

/** Lets the commands of the module `gate` end. */
export const openGate = (folder: string): Promise<void> => writeFile(join(folder, 'open'), '')

/** Pids that the module `tree` wrote for a target. */
export const pidsOf = (folder: string, target: string): number[] => {
  const file = join(folder, `${target}.pids`)
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').map(Number) : []
}

/** Whether a process lives; one that only waits to be reaped does not. */
export const lives = (pid: number): boolean => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2))
  } catch {
    return false
  }
}
