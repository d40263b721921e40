import { codeOf, openBelow, RefusedPath, withPath, type PathHandle } from '@scanfarm/paths'

/** A file or folder inside the folders of a run, or why there is none. */
export type OpenedInside =
  | { readonly kind: 'file' | 'folder'; readonly handle: PathHandle }
  | { readonly kind: 'refused'; readonly reason: string }

/**
 * Opens `path` only if it is a regular file or folder below one of `roots`. Commands may create links and replace them at
 * the same time; what is opened is what was checked. A hard link may be that of another user's file.
 */
export async function openInside(path: string, roots: readonly string[]): Promise<OpenedInside> {
  try {
    const { folder, name } = await openBelow(path, roots)
    using _ = folder
    if (name === '.') return refused(OUTSIDE)
    const handle = folder.entry(name)
    const problem = problemOf(handle)
    if (problem === undefined) return { kind: handle.facts.isFile() ? 'file' : 'folder', handle }
    handle[Symbol.dispose]()
    return refused(problem)
  } catch (error) {
    return refused(reasonOf(error, path))
  }
}

export const CLOSED = 'this process has no permission to read it'
const OUTSIDE = "it is outside the run's folders"

const refused = (reason: string): { kind: 'refused'; reason: string } => ({ kind: 'refused', reason })

/** Why an entry is not stored. */
export const problemOf = ({ facts }: PathHandle): string | undefined => {
  if (facts.isSymbolicLink()) return 'it is a symbolic link'
  if (!facts.isFile() && !facts.isDirectory()) return 'it is neither a regular file nor a folder'
  return facts.isFile() && facts.nlink > 1 ? 'it is a hard link to a file that has other names' : undefined
}

const reasonOf = (error: unknown, path: string): string => {
  if (error instanceof RefusedPath) return OUTSIDE
  switch (codeOf(error)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return 'there is no such file'
    case 'EACCES':
      return CLOSED
    default:
      return withPath(error, path).message
  }
}
