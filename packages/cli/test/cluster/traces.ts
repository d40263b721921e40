import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

// Reads and writes the folder in which the modules of `workflows.ts` leave traces.

interface Moment {
  readonly at: bigint
  readonly change: 1 | -1
}

/** The largest number of commands of the module `stamp` that ran at the same time. */
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

/** The lines of a file. A file that does not exist yet has none. */
const linesOf = (file: string): string[] =>
  existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []

/** The targets of started commands of the module `gate`, and of held ones of the module `held`, in order. */
export const begun = (folder: string): string[] => linesOf(join(folder, 'began'))

/** The number of started commands of the module `stamp`. */
export const stamped = (folder: string): number =>
  readdirSync(folder).filter((name) => name.endsWith('.began')).length

/** Makes the commands of the module `held` wait for the gate on these targets. */
export const hold = async (folder: string, targets: readonly string[]): Promise<void> => {
  for (const target of targets) await writeFile(join(folder, `hold-${target}`), '')
}

/** Lets the commands of the modules `gate`, `held` and `stamp` end. */
export const openGate = (folder: string): Promise<void> => writeFile(join(folder, 'open'), '')

/** The pids that the module `tree` recorded for a target. */
export const pidsOf = (folder: string, target: string): number[] =>
  linesOf(join(folder, `${target}.pids`)).map(Number)

/** Whether a process is alive. Zombies are not. */
export const lives = (pid: number): boolean => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2))
  } catch {
    return false
  }
}
