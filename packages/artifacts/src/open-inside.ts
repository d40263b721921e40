import { errorText } from '@scanfarm/platform'
import type { BigIntStats } from 'node:fs'
import { constants, lstat, open, realpath, stat, type FileHandle } from 'node:fs/promises'
import { sep } from 'node:path'

export type OpenedInside =
  | {
      readonly kind: 'file' | 'folder'
      readonly file: FileHandle
      readonly size: number
      readonly path: string
    }
  /** `closed`: this process has no permission to read it. */
  | { readonly kind: 'refused'; readonly reason: string; readonly closed?: boolean }

// Does not follow links, and does not wait for a writer of a named pipe.
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/**
 * Opens `path` only if it is a regular file or folder inside one of `roots`. Commands may create links and replace them
 * during the checks, so the checks use the open file: it must be the file at the resolved path, that path must be inside,
 * and the file must have no other hard link.
 */
export async function openInside(path: string | Buffer, roots: readonly string[]): Promise<OpenedInside> {
  const special = await lstat(path).then(
    (found) => !found.isFile() && !found.isDirectory() && !found.isSymbolicLink(),
    () => false,
  )
  // Opening a device may already do something.
  if (special) return refused('it is neither a regular file nor a folder')
  const file = await open(path, FLAGS).catch((error: unknown) => reasonOf(error))
  if (file === CLOSED) return { ...refused(file), closed: true }
  if (typeof file === 'string') return refused(file)
  const problem = await problemOf(file, path, roots).catch((error: unknown) => reasonOf(error))
  if (typeof problem === 'object') return problem
  await file.close()
  return refused(problem)
}

const CLOSED = 'this process has no permission to read it'

const refused = (reason: string): { kind: 'refused'; reason: string } => ({ kind: 'refused', reason })

const problemOf = async (
  file: FileHandle,
  path: string | Buffer,
  roots: readonly string[],
): Promise<OpenedInside | string> => {
  const opened = await file.stat({ bigint: true })
  if (!opened.isFile() && !opened.isDirectory()) return 'it is neither a regular file nor a folder'
  if (opened.isFile() && opened.nlink > 1n) return 'it is a hard link to a file that has other names'
  // As bytes, since names may not be UTF-8.
  const resolved = await realpath(path, { encoding: 'buffer' })
  const real = resolved.toString()
  if (!isSame(opened, await stat(resolved, { bigint: true }))) return 'it changed while it was opened'
  const inside = await Promise.all(roots.map(async (root) => isInside(real, await realpath(root))))
  if (!inside.includes(true)) return "it is outside the run's folders"
  return { kind: opened.isFile() ? 'file' : 'folder', file, size: Number(opened.size), path: real }
}

const isSame = (one: BigIntStats, other: BigIntStats): boolean =>
  one.dev === other.dev && one.ino === other.ino
const isInside = (path: string, root: string): boolean =>
  path.startsWith(root.endsWith(sep) ? root : root + sep)

const reasonOf = (error: unknown): string => {
  const code = Error.isError(error) && 'code' in error ? error.code : undefined
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return 'there is no such file'
    case 'ELOOP':
      return 'it is a symbolic link'
    case 'EACCES':
      return CLOSED
    default:
      return errorText(error)
  }
}
