import { isUtf8 } from 'node:buffer'
import type { FileHandle } from 'node:fs/promises'
import { PassThrough, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { pack as createPack, type Pack } from 'tar-stream'
import { entriesBelow, unless, type Folder, type PathHandle } from '@scanfarm/paths'
import { problemOf } from './open-inside.ts'
import { filesAs, readStartAs, sizeAs, type FileUser } from './read-as.ts'

const MAX_FILES = 10_000
const MAX_DEPTH = 32

/** A name as text; each byte that is not UTF-8 as `\xHH`. */
const escapedName = (name: Buffer): string => {
  if (isUtf8(name)) return name.toString()
  let escaped = ''
  for (let at = 0; at < name.length;) {
    const length = [1, 2, 3, 4].find(
      (count) => isUtf8(name.subarray(at, at + count)) && at + count <= name.length,
    )
    escaped +=
      length === undefined ? `\\x${name.toString('hex', at, at + 1)}` : name.toString('utf8', at, at + length)
    at += length ?? 1
  }
  return escaped
}

/** A folder that is stored as a tar. */
export interface TarSource {
  readonly folder: Folder
  /** For reading as `owner`. */
  readonly path: string
  readonly maxBytes: number
  readonly owner?: FileUser | undefined
}

/**
 * A tar of the regular files below a folder, without links, devices and unreadable files. Files that this process cannot
 * read are read as `owner`. The stream fails if the folder has more than `maxBytes` or too many files.
 */
export function folderTar(source: TarSource): Readable {
  const pack = createPack()
  const body = new PassThrough()
  const failed = (error: unknown): void => {
    body.destroy(Error.isError(error) ? error : new Error(String(error)))
  }
  // `pipe` does not report a closed reader, so `fill` would wait forever.
  body.once('close', () => pack.destroy())
  pack.on('error', failed)
  pack.pipe(body)
  fill(pack, source).catch(failed)
  return body
}

interface Content extends AsyncDisposable {
  readonly size: number
  stream(): Readable
}

const contentOf = async (
  handle: PathHandle,
  path: Buffer,
  source: TarSource,
): Promise<Content | undefined> => {
  if (problemOf(handle) !== undefined || !handle.facts.isFile()) return undefined
  const file = await handle.open().catch(unless(['EACCES'], () => undefined))
  return file === undefined ? await contentAs(path, source) : contentIn(file)
}

const contentIn = async (file: FileHandle): Promise<Content> => {
  const { size } = await file.stat()
  return {
    size,
    stream: () => file.createReadStream({ start: 0, end: size - 1, autoClose: false }),
    [Symbol.asyncDispose]: () => file.close(),
  }
}

/** The content of a file that only its owner can read. Links only lead to what the owner can read anyway. */
const contentAs = async (path: Buffer, { path: folder, owner }: TarSource): Promise<Content | undefined> => {
  if (owner === undefined || !isUtf8(path)) return undefined
  const full = `${folder}/${path.toString()}`
  const size = await sizeAs(full, owner).catch(() => undefined)
  if (size === undefined) return undefined
  return {
    size,
    stream: () => Readable.from(readStartAs(full, owner, size)),
    [Symbol.asyncDispose]: async () => {},
  }
}

const fill = async (pack: Pack, source: TarSource): Promise<void> => {
  const { folder, maxBytes, owner } = source
  const closed: Buffer[] = []
  let files = 0
  let bytes = 0
  const add = async (path: Buffer, content: Content): Promise<void> => {
    files += 1
    bytes += content.size
    if (files > MAX_FILES) throw new Error(`the folder has more than ${MAX_FILES} files`)
    if (bytes > maxBytes) throw new Error(`the folder has more than ${maxBytes} bytes`)
    const entry = pack.entry({ name: escapedName(path), size: content.size, mode: 0o644 })
    // The header contains the size: a file that grows meanwhile is cut, one that shrinks fails the tar.
    if (content.size === 0) entry.end()
    else await pipeline(content.stream(), entry)
  }
  const options = { maxDepth: MAX_DEPTH, ...(owner !== undefined && { closed }) }
  for await (const { handle, path } of entriesBelow(folder, options)) {
    await using content = await contentOf(handle, path, source)
    if (content !== undefined) await add(path, content)
  }
  for (const path of await filesInClosed(closed, source)) {
    await using content = await contentAs(path, source)
    if (content !== undefined) await add(path, content)
  }
  pack.finalize()
}

/** Paths of the files in folders that only their owner can list. */
const filesInClosed = async (closed: readonly Buffer[], { path, owner }: TarSource): Promise<Buffer[]> => {
  const found: Buffer[] = []
  const start = Buffer.byteLength(path) + 1
  for (const folder of closed) {
    if (owner === undefined || !isUtf8(folder)) continue
    const files = await filesAs(folder.length === 0 ? path : `${path}/${folder.toString()}`, owner)
    found.push(...files.map((file) => file.subarray(start)))
  }
  return found
}
