import { glob, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** Files that one watch may match. */
export const MAX_FILES = 10_000

export interface FoundFile {
  /** Another one whenever the file has changed. */
  readonly mark: string
  readonly size: number
  readonly modified: Date
}

/** The regular files that a path or glob matches now, those in it where it is a folder. Rejects when there are too many. */
export async function scanFiles(pattern: string): Promise<Map<string, FoundFile>> {
  const found = new Map<string, FoundFile>()
  const isFolder = (await stat(pattern).catch(() => undefined))?.isDirectory() === true
  // The name of a folder may have characters that mean something in a glob.
  for await (const name of isFolder ? glob('*', { cwd: pattern }) : glob(pattern)) {
    const path = isFolder ? join(pattern, name) : name
    const about = await stat(path).catch(() => undefined)
    if (about?.isFile() !== true) continue
    if (found.size >= MAX_FILES) throw new Error(`${pattern} matches more than ${MAX_FILES} files`)
    const mark = `${Math.trunc(about.mtimeMs)}-${about.size}`
    found.set(path, { mark, size: about.size, modified: about.mtime })
  }
  return found
}
