import { isUtf8 } from 'node:buffer'
import { readdir } from 'node:fs/promises'
import { PassThrough, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { pack as createPack, type Pack } from 'tar-stream'
import { openInside } from './open-inside.ts'

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
 * A tar of the regular files below `folder`; links, devices and unreadable files are left out. The stream fails when
 * the folder holds more than `maxBytes` or too many files.
 */
export function folderTar(folder: string, maxBytes: number): Readable {
  const pack = createPack()
  const body = new PassThrough()
  const failed = (error: unknown): void => {
    body.destroy(Error.isError(error) ? error : new Error(String(error)))
  }
  // `pipe` alone would not tell of a reader that went away, and `fill` would wait for ever.
  body.once('close', () => pack.destroy())
  pack.on('error', failed)
  pack.pipe(body)
  fill(pack, folder, maxBytes).catch(failed)
  return body
}

const fill = async (pack: Pack, folder: string, maxBytes: number): Promise<void> => {
  let files = 0
  let bytes = 0
  const root = Buffer.from(folder)
  for await (const path of filesBelow(root, 0)) {
    const found = await openInside(path, [folder])
    if (found.kind === 'refused') continue
    await using file = found.file
    if (found.kind === 'folder') continue
    files += 1
    bytes += found.size
    if (files > MAX_FILES) throw new Error(`the folder holds more than ${MAX_FILES} files`)
    if (bytes > maxBytes) throw new Error(`the folder holds more than ${maxBytes} bytes`)
    const entry = pack.entry({
      name: escapedName(path.subarray(root.length + 1)),
      size: found.size,
      mode: 0o644,
    })
    // The header has promised a size: a file that grows meanwhile is cut there, one that shrinks fails the tar.
    if (found.size === 0) entry.end()
    else await pipeline(file.createReadStream({ start: 0, end: found.size - 1, autoClose: false }), entry)
  }
  pack.finalize()
}

async function* filesBelow(folder: Buffer, depth: number): AsyncGenerator<Buffer> {
  if (depth > MAX_DEPTH) throw new Error(`the folder is nested deeper than ${MAX_DEPTH}`)
  const entries = await readdir(folder, { withFileTypes: true, encoding: 'buffer' })
  for (const entry of entries.sort((a, b) => a.name.compare(b.name))) {
    if (entry.isDirectory()) yield* filesBelow(joined(folder, entry.name), depth + 1)
    else if (entry.isFile()) yield joined(folder, entry.name)
  }
}
