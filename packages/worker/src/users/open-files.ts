import { valueOr } from '@scanfarm/contracts'
import { realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

const OTHERS_READ = 0o004
const OTHERS_PASS = 0o001
const OTHERS = 0o007

const modeOf = (path: string): number => statSync(path).mode

const foldersAbove = (path: string): string[] =>
  dirname(path) === path ? [] : [dirname(path), ...foldersAbove(dirname(path))]

/** Whether any user can read the file. */
export const isOpenToOthers = (file: string): boolean => {
  try {
    const real = realpathSync(file)
    return (
      (modeOf(real) & OTHERS_READ) !== 0 &&
      foldersAbove(real).every((folder) => (modeOf(folder) & OTHERS_PASS) !== 0)
    )
  } catch {
    // This process cannot read it either.
    return false
  }
}

/** Whether only the owner and the group of the folder can enter it. */
export const isPrivate = (folder: string): boolean => valueOr(() => (modeOf(folder) & OTHERS) === 0, false)
