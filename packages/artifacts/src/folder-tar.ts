import { isUtf8 } from 'node:buffer'
import { readdir } from 'node:fs/promises'
import { PassThrough, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { pack as createPack, type Pack } from 'tar-stream'
import { openInside } from './open-inside.ts'
import { filesAs, readStartAs, sizeAs, type FileUser } from './read-as.ts'

const MAX_FILES = 10_000
const MAX_DEPTH = 32

const SLASH = Buffer.from('/')

const joined = (folder: Buffer, name: Buffer): Buffer => Buffer.concat([folder, SLASH, name])

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

/**
 * A tar of the regular files below `folder`, without links, devices and unreadable files. Files that this process cannot
 * read are read as `owner`. The stream fails if the folder has more than `maxBytes` or too many files.
 */
export function folderTar(folder: string, maxBytes: number, owner?: FileUser): Readable {
  const pack = createPack()
  const body = new PassThrough()
  const failed = (error: unknown): void => {
    body.destroy(Error.isError(error) ? error : new Error(String(error)))
  }
  // `pipe` does not report a closed reader, so `fill` would wait forever.
  body.once('close', () => pack.destroy())
  pack.on('error', failed)
  pack.pipe(body)
  fill(pack, { folder, maxBytes, owner }).catch(failed)
  return body
}

interface Source {
  readonly folder: string
  readonly maxBytes: number
  readonly owner: FileUser | undefined
}

interface Content {
  readonly size: number
  stream(): Readable
}

const contentOf = async (
  path: Buffer,
  { folder, owner }: Source,
): Promise<(Content & AsyncDisposable) | undefined> => {
  const found = await openInside(path, [folder])
  if (found.kind === 'file') {
    const { file, size } = found
    return {
      size,
      stream: () => file.createReadStream({ start: 0, end: size - 1, autoClose: false }),
      [Symbol.asyncDispose]: () => file.close(),
    }
  }
  if (found.kind !== 'refused') {
    await found.file.close()
    return undefined
  }
  if (found.closed !== true || owner === undefined || !isUtf8(path)) return undefined
  const size = await sizeAs(path.toString(), owner).catch(() => undefined)
  if (size === undefined) return undefined
  return {
    size,
    stream: () => Readable.from(readStartAs(path.toString(), owner, size)),
    [Symbol.asyncDispose]: async () => {},
  }
}

const fill = async (pack: Pack, source: Source): Promise<void> => {
  const { folder, maxBytes, owner } = source
  let files = 0
  let bytes = 0
  const root = Buffer.from(folder)
  for await (const path of filesBelow(root, 0, owner)) {
    await using content = await contentOf(path, source)
    if (content === undefined) continue
    files += 1
    bytes += content.size
    if (files > MAX_FILES) throw new Error(`the folder has more than ${MAX_FILES} files`)
    if (bytes > maxBytes) throw new Error(`the folder has more than ${maxBytes} bytes`)
    const entry = pack.entry({
      name: escapedName(path.subarray(root.length + 1)),
      size: content.size,
      mode: 0o644,
    })
    // The header contains the size: a file that grows meanwhile is cut, one that shrinks fails the tar.
    if (content.size === 0) entry.end()
    else await pipeline(content.stream(), entry)
  }
  pack.finalize()
}

async function* filesBelow(folder: Buffer, depth: number, owner?: FileUser): AsyncGenerator<Buffer> {
  if (depth > MAX_DEPTH) throw new Error(`the folder is nested deeper than ${MAX_DEPTH}`)
  const entries = await readdir(folder, { withFileTypes: true, encoding: 'buffer' }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EACCES' && owner !== undefined && isUtf8(folder)) return undefined
      throw error
    },
  )
  if (entries === undefined) {
    if (owner !== undefined) yield* await filesAs(folder.toString(), owner)
    return
  }
  for (const entry of entries.sort((a, b) => a.name.compare(b.name))) {
    if (entry.isDirectory()) yield* filesBelow(joined(folder, entry.name), depth + 1, owner)
    else if (entry.isFile()) yield joined(folder, entry.name)
  }
}
