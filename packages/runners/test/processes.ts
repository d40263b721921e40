import { randomInt } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'

/** Limit of a test or hook, in milliseconds: room for two waits. It only ends what hangs. */
export const TEST_MS = 150_000

/** A number for `sleep` by which a process can be found on the machine, whoever started it and wherever it went. */
export const token = (): string => String(randomInt(1_000_000, 2_000_000_000))

/** Processes of this machine with the token as a word of their command line; those in containers show here, too. */
export async function alive(word: string): Promise<number[]> {
  const found: number[] = []
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const line = await readFile(`/proc/${name}/cmdline`, 'latin1').catch(() => '')
    if (line.split('\0').includes(word)) found.push(Number(name))
  }
  return found
}
