import type { FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { extract, pack, type Pack } from 'tar-stream'
import type { RunnerContext } from '@scanfarm/contracts'
import { errorText } from '@scanfarm/platform'
import { ReceivedFiles } from './received-files.ts'
import { sentFiles, type SentFile } from './sent-files.ts'

/** The mode of an entry on the other side, from the mode of the file or folder on this machine. */
export type ModeOf = (mode: number, isFolder: boolean) => number

const FOLDER_MODE = 0o777

/** The container's user differs from this machine's, and the container belongs to this run alone. */
const openToAll: ModeOf = (mode, isFolder) => (isFolder ? FOLDER_MODE : mode | 0o666)

/** A tar stream of the file or folder at an absolute path in the folders of the run, open to all users. */
export const packPath = (path: string, context: RunnerContext, signal: AbortSignal): Pack =>
  packFiles(sentFiles(path, context), openToAll, signal)

/**
 * A tar stream of files, folders and links, with names that unpack at `/` to the same paths. Other kinds are left out. The
 * stream fails if reading fails or the signal aborts.
 */
export function packFiles(files: AsyncIterable<SentFile>, modeOf: ModeOf, signal: AbortSignal): Pack {
  const stream = pack()
  addAll(stream, files, modeOf, signal).then(
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

async function addAll(
  stream: Pack,
  files: AsyncIterable<SentFile>,
  modeOf: ModeOf,
  signal: AbortSignal,
): Promise<void> {
  for await (const { path, handle, target } of files) {
    signal.throwIfAborted()
    const name = nameOf(path)
    const { mode, mtime } = handle.facts
    if (handle.facts.isDirectory())
      stream.entry({ name: `${name}/`, type: 'directory', mode: modeOf(mode, true), mtime })
    else if (target !== undefined) stream.entry({ name, type: 'symlink', linkname: target, mtime })
    else if (handle.facts.isFile()) await addFile(stream, name, await handle.open(), modeOf, signal)
  }
}

async function addFile(
  stream: Pack,
  name: string,
  file: FileHandle,
  modeOf: ModeOf,
  signal: AbortSignal,
): Promise<void> {
  await using _ = file
  const { size, mode, mtime } = await file.stat()
  const entry = stream.entry({ name, type: 'file', mode: modeOf(mode, false), mtime, size })
  // A file that grows meanwhile is cut at its original size.
  if (size > 0) await pipeline(file.createReadStream({ start: 0, end: size - 1 }), entry, { signal })
  else entry.end()
}

/**
 * Unpacks the archive of `path` of an engine or a host, whose names begin with the last part of the path. Only files and
 * folders are unpacked, and only inside `root`.
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
    const { type, name, linkname } = entry.header
    const target = join(dirname(path), name)
    if (type === 'directory') await files.folder(target)
    if (type === 'link') await files.copy(join(dirname(path), linkname ?? ''), target)
    if (type === 'file') await writeFile(files, target, entry)
    else entry.resume()
  }
  await reading
}

async function writeFile(files: ReceivedFiles, target: string, content: Readable): Promise<void> {
  const file = await files.file(target)
  await pipeline(content, files.counted(), file.createWriteStream())
}
