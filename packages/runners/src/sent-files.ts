import type { RunnerContext } from '@scanfarm/contracts'
import { entriesBelow, Folder, openBelow, type PathHandle } from '@scanfarm/paths'
import { foldersOf } from './run-folders.ts'

/** A file, folder or link that is copied to a runner. */
export interface SentFile {
  /** The same on both sides. */
  readonly path: string
  /** Disposed when the next one is asked for. */
  readonly handle: PathHandle
  /** Of a link. */
  readonly target: string | undefined
}

type Context = Pick<RunnerContext, 'folder' | 'workspace' | 'owner' | 'signal'>

/** The path and everything below it. It must be in a folder of the run; links are not followed. */
export async function* sentFiles(path: string, context: Context): AsyncGenerator<SentFile> {
  const { folder, name } = await openBelow(path, foldersOf(context))
  using _ = folder
  using handle = folder.entry(name)
  yield sentFile(path, folder, name, handle, context)
  if (!(handle instanceof Folder)) return
  for await (const { parent, name: below, path: rest, handle: entry } of entriesBelow(handle))
    yield sentFile(`${path}/${rest.toString()}`, parent, below, entry, context)
}

const sentFile = (
  path: string,
  parent: Folder,
  name: string | Buffer,
  handle: PathHandle,
  { owner, signal }: Context,
): SentFile => {
  signal.throwIfAborted()
  const { facts } = handle
  if (owner !== undefined && facts.isFile() && facts.nlink > 1 && facts.uid !== owner.uid)
    throw new Error(`${path} is a hard link to a file of another user`)
  return { path, handle, target: facts.isSymbolicLink() ? parent.linkOf(name) : undefined }
}
