import { chmodSync, lstatSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'

/** Other users may traverse the folder to reach their own folders below, but not list it. */
export const PASSAGE = 0o711
export const READABLE = 0o755
export const CLOSED = 0o700

/**
 * Makes a folder, and the missing ones above it. False: it exists and stays as it is. Synchronous: the thread pool costs
 * many times the calls.
 */
export const makeFolder = (folder: string, mode: number): boolean => {
  if (lstatSync(folder, { throwIfNoEntry: false }) !== undefined) return false
  mkdirSync(dirname(folder), { recursive: true, mode: PASSAGE })
  const isNew = mkdirSync(folder, { recursive: true, mode }) !== undefined
  // Whatever the umask of this process.
  if (isNew) chmodSync(folder, mode)
  return isNew
}
