import { realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

const OTHERS_READ = 0o004
const OTHERS_PASS = 0o001
const OTHERS = 0o007

const modeOf = (path: string): number => statSync(path).mode

const foldersAbove = (path: string): string[] =>
  dirname(path) === path ? [] : [dirname(path), ...foldersAbove(dirname(path))]

/** Whether users without any rights besides those of everyone can read the file. */
export const isOpenToOthers = (file: string): boolean => {
  try {
    const real = realpathSync(file)
    return (
      (modeOf(real) & OTHERS_READ) !== 0 &&
      foldersAbove(real).every((folder) => (modeOf(folder) & OTHERS_PASS) !== 0)
    )
  } catch {
    // Not even this program can see it.
    return false
  }
}

/** Whether the folder lets nobody in but its owner and its group. */
export const isPrivate = (folder: string): boolean => {
  try {
    return (modeOf(folder) & OTHERS) === 0
  } catch {
    return false
  }
}
