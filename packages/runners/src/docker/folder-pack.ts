import { createReadStream } from 'node:fs'
import { lstat, readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { pack, type Pack } from 'tar-stream'
import { messageOf } from '../error-facts.ts'

/** The user of a container is not the one of this machine, and the container holds nothing but this run. */
const FILE_MODE = 0o666
const FOLDER_MODE = 0o777

/**
 * A tar stream of the file or folder at an absolute path, named so that it unpacks at `/` to the same path. What is
 * neither file, folder nor link is left out. The stream fails when reading fails or the signal aborts.
 */
export function packPath(path: string, signal: AbortSignal): Pack {
  const stream = pack()
  addPath(stream, path, signal).then(
    () => stream.finalize(),
    (error: unknown) => stream.destroy(new Error(messageOf(error), { cause: error })),
  )
  return stream
}

/** An empty folder at the path. */
export function packFolder(path: string): Pack {
  const stream = pack()
  stream.entry({ name: `${nameOf(path)}/`, type: 'directory', mode: FOLDER_MODE })
  stream.finalize()
  return stream
}

const nameOf = (path: string): string => path.replace(/^\/+/, '')

async function addPath(stream: Pack, path: string, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  const facts = await lstat(path)
  const { mtime } = facts
  const name = nameOf(path)
  if (facts.isFile()) {
    const mode = facts.mode | FILE_MODE
    const entry = stream.entry({ name, type: 'file', mode, mtime, size: facts.size })
    // A file that grows meanwhile is taken as long as it was.
    if (facts.size > 0) await pipeline(createReadStream(path, { end: facts.size - 1 }), entry, { signal })
    else entry.end()
  } else if (facts.isSymbolicLink()) {
    stream.entry({ name, type: 'symlink', linkname: await readlink(path), mtime })
  } else if (facts.isDirectory()) {
    stream.entry({ name: `${name}/`, type: 'directory', mode: FOLDER_MODE, mtime })
    for (const child of await readdir(path)) await addPath(stream, join(path, child), signal)
  }
}
