import { valueOr } from '@scanfarm/contracts'
import { hash, randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, readlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { codeOf } from '@scanfarm/paths'
import { isSameProcess, processStart } from '@scanfarm/runners'

/** Of the processes that this one can see. */
const PLACE = hash(
  'sha256',
  readFileSync('/proc/sys/kernel/random/boot_id', 'latin1') + readlinkSync('/proc/self/ns/pid'),
).slice(0, 12)

/** A name for this process in the names of files, by which others see whether it still runs. */
export const nameProcess = (): string =>
  [process.pid, processStart(process.pid), PLACE, randomUUID()].join('-')

/** False for a process of another machine or container, which this one cannot see. */
export const isHere = (processName: string): boolean => processName.split('-')[2] === PLACE

export const isRunning = (processName: string): boolean => {
  const [pid, start] = processName.split('-')
  return isHere(processName) && isSameProcess(Number(pid), Number(start))
}

/** Empty if the folder does not exist. */
export const namesIn = (folder: string): string[] => valueOr(() => readdirSync(folder), [])

/** Writes a file that only this user may read. Its folder is made for the first one, or after an operator has deleted it. */
export const writeMark = (path: string, text = ''): void => {
  const write = (): void => writeFileSync(path, text, { mode: 0o600 })
  try {
    write()
  } catch {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    write()
  }
}

/** `rmSync` calls the system three times for each file. */
export const unlinkIfExists = (path: string): void => {
  try {
    unlinkSync(path)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
}
