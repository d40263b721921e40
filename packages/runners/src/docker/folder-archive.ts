import type { FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { extract, pack, type Pack } from 'tar-stream'
import type { RunnerContext } from '@scanfarm/contracts'
import { errorText } from '@scanfarm/platform'
import { ReceivedFiles } from '../received-files.ts'
import { sentFiles, type SentFile } from '../sent-files.ts'

/** Open to all: the container's user differs from this machine's, and the container belongs to this run alone. */
const FILE_MODE = 0o666
const FOLDER_MODE = 0o777

/**
 * A tar stream of the file or folder at an absolute path in the folders of the run, with names that unpack at `/` to the
 * same path. Only files, folders and links are included. The stream fails if reading fails or the signal aborts.
 */
export function packPath(path: string, context: RunnerContext, signal: AbortSignal): Pack {
  const stream = pack()
  addAll(stream, sentFiles(path, context), signal).then(
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

async function addAll(stream: Pack, files: AsyncIterable<SentFile>, signal: AbortSignal): Promise<void> {
  for await (const { path, held, target } of files) {
    signal.throwIfAborted()
    const name = nameOf(path)
    const { mtime } = held.facts
    if (held.facts.isDirectory())
      stream.entry({ name: `${name}/`, type: 'directory', mode: FOLDER_MODE, mtime })
    else if (target !== undefined) stream.entry({ name, type: 'symlink', linkname: target, mtime })
    else if (held.facts.isFile()) await addFile(stream, name, await held.open(), signal)
  }
}

async function addFile(stream: Pack, name: string, file: FileHandle, signal: AbortSignal): Promise<void> {
  await using _ = file
  const { size, mode, mtime } = await file.stat()
  const entry = stream.entry({ name, type: 'file', mode: mode | FILE_MODE, mtime, size })
  // A file that grows meanwhile is cut at its original size.
  if (size > 0) await pipeline(file.createReadStream({ start: 0, end: size - 1 }), entry, { signal })
  else entry.end()
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
