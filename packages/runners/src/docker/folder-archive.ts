import { createReadStream } from 'node:fs'
import { lstat, readdir, readlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { extract, pack, type Pack } from 'tar-stream'
import { errorText } from '@scanfarm/platform'
import { ReceivedFiles } from '../received-files.ts'

/** Open to all: the container's user differs from this machine's, and the container belongs to this run alone. */
const FILE_MODE = 0o666
const FOLDER_MODE = 0o777

/**
 * A tar stream of the file or folder at an absolute path, with names that unpack at `/` to the same path. Only files,
 * folders and links are included. The stream fails if reading fails or the signal aborts.
 */
export function packPath(path: string, signal: AbortSignal): Pack {
  const stream = pack()
  addPath(stream, path, signal).then(
    () => stream.finalize(),
    (error: unknown) => stream.destroy(new Error(errorText(error), { cause: error })),
  )
  return stream
}

/** A tar stream of an empty folder at the path. */
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
    // A file that grows meanwhile is cut at its original size.
    if (facts.size > 0) await pipeline(createReadStream(path, { end: facts.size - 1 }), entry, { signal })
    else entry.end()
  } else if (facts.isSymbolicLink()) {
    stream.entry({ name, type: 'symlink', linkname: await readlink(path), mtime })
  } else if (facts.isDirectory()) {
    stream.entry({ name: `${name}/`, type: 'directory', mode: FOLDER_MODE, mtime })
    for (const child of await readdir(path)) await addPath(stream, join(path, child), signal)
  }
}

/**
 * Unpacks the engine's archive of `path`, whose names begin with the last part of the path. Only files and folders are
 * unpacked, and only inside `root`.
 */
export async function unpackInto(
  root: string,
  path: string,
  stream: NodeJS.ReadableStream,
  signal: AbortSignal,
): Promise<void> {
  const files = new ReceivedFiles(root)
  const entries = extract()
  const reading = pipeline(stream, entries, { signal })
  reading.catch(() => {})
  for await (const entry of entries) {
    const target = join(dirname(path), entry.header.name)
    if (entry.header.type === 'directory') await files.folder(target)
    if (entry.header.type === 'file') await writeFile(files, target, entry)
    else entry.resume()
  }
  await reading
}

async function writeFile(files: ReceivedFiles, target: string, content: Readable): Promise<void> {
  const file = await files.file(target)
  await pipeline(content, files.counted(), file.createWriteStream())
}
