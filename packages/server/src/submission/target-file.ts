import { isAbsolute, normalize } from 'node:path'
import { AppError, uploadKeyOf, type ArtifactStore } from '@scanfarm/contracts'
import { Folder, partsBelow, walk, type PathLocation } from '@scanfarm/paths'
import { wrongField } from '../http/refusal.ts'

const refusal = (message: string): AppError => wrongField('/target_file', message)

/**
 * Opens the file named by `target_file`: an upload, by the path that the upload returned (on any master), or a file
 * below one of `folders` on this machine. `..`, links and anything but a regular file are refused.
 */
export async function openTargetFile(
  path: string,
  artifacts: Pick<ArtifactStore, 'get'>,
  folders: readonly string[],
): Promise<AsyncIterable<Buffer>> {
  if (path.includes('\0')) throw refusal('must not contain NUL')
  if (path.split('/').includes('..')) throw refusal('must not contain ".."')
  const key = uploadKeyOf(path)
  if (key !== undefined) {
    const found = await artifacts.get(key)
    if (found === undefined) throw refusal('is not an existing upload; it may have expired')
    return found.body
  }
  if (!isAbsolute(path)) throw refusal(OUTSIDE)
  return openOnDisk(normalize(path), folders)
}

const LINK = 'contains a symbolic link'
const OUTSIDE =
  'must be a path returned by POST /upload-file, or a file below a folder of the setting target_file.folders'

const openOnDisk = async (path: string, folders: readonly string[]): Promise<AsyncIterable<Buffer>> => {
  const [start] = folders.flatMap((root): PathLocation[] => {
    const parts = partsBelow(root, path) ?? []
    return parts.length === 0 ? [] : [{ root, parts }]
  })
  if (start === undefined) throw refusal(OUTSIDE)
  try {
    const { folder, name } = await walk(start, {
      keepsLastLink: true,
      openRoot: ({ root }) => Folder.at(root),
      follow: () => {
        throw refusal(LINK)
      },
    })
    using _ = folder
    using handle = folder.entry(name)
    if (handle.facts.isSymbolicLink()) throw refusal(LINK)
    if (!handle.facts.isFile()) throw refusal('is not a regular file')
    return (await handle.open()).createReadStream()
  } catch (error) {
    throw error instanceof AppError ? error : refusal(reasonOf(error))
  }
}

const reasonOf = (error: unknown): string => {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'does not exist'
  return 'cannot be read by the server'
}

const NEWLINE = 0x0a
/** A target has at most 2048 characters of at most 4 bytes each. */
const MAX_LINE_BYTES = 64 * 1024

/** Adjacent lines. Passing lines one by one would cost more than processing them. */
export interface Lines {
  /** Number of the first line, from 1. */
  readonly first: number
  readonly texts: readonly string[]
}

/**
 * The lines of a UTF-8 stream; holds at most one chunk and one line in memory. Refuses invalid UTF-8 and lines that are
 * too long, with their number.
 */
export async function* linesOf(source: AsyncIterable<Buffer>): AsyncGenerator<Lines> {
  let first = 1
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of source) {
    const block = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    const end = block.lastIndexOf(NEWLINE)
    rest = block.subarray(end + 1)
    if (end >= 0) {
      const texts = decode(block.subarray(0, end), first)
      yield { first, texts }
      first += texts.length
    }
    if (rest.length > MAX_LINE_BYTES) throw lineRefusal(first, `is longer than ${MAX_LINE_BYTES} bytes`)
  }
  if (rest.length > 0) yield { first, texts: decode(rest, first) }
}

const decode = (block: Buffer, first: number): string[] => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: first > 1 }).decode(block).split('\n')
  } catch {
    throw lineRefusal(first + badLine(block), 'is not valid UTF-8')
  }
}

/** Index of the first line in the block that is not valid UTF-8. */
const badLine = (block: Buffer): number => {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let start = 0
  for (let line = 0; ; line += 1) {
    const newline = block.indexOf(NEWLINE, start)
    const end = newline < 0 ? block.length : newline
    try {
      decoder.decode(block.subarray(start, end))
    } catch {
      return line
    }
    if (newline < 0) return line
    start = end + 1
  }
}

const lineRefusal = (line: number, what: string): AppError =>
  new AppError('invalid_target', `target_file: line ${line} ${what}`, {
    details: [{ path: '/target_file', message: `line ${line} ${what}` }],
  })
