import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { chmod, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Transform, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { errorText } from '@scanfarm/platform'
import { extract } from 'tar-stream'
import { openPromise, validateFileName } from 'yauzl'
import { ToolError } from '../errors.ts'

/** Of all unpacked files together. */
const MAX_BYTES = 2 * 1024 * 1024 * 1024
const MAX_ENTRIES = 200_000

const PROGRAM_MODE = 0o755
const FILE_MODE = 0o644
const FOLDER_MODE = 0o755

interface ArchiveEntry {
  readonly name: string
  /** Neither a folder, nor a link, nor a device. */
  readonly isFile: boolean
  content(): Promise<Readable>
}

/** The type of a file in the attributes that zips of Unix systems have; 0 in others. */
const FILE_TYPE = 0o170_000
const REGULAR = 0o100_000
const isRegular = (attributes: number): boolean => [0, REGULAR].includes((attributes >>> 16) & FILE_TYPE)

async function* zipEntries(file: string): AsyncGenerator<ArchiveEntry> {
  const zip = await openPromise(file, { autoClose: false, strictFileNames: true })
  try {
    for await (const entry of zip.eachEntry())
      yield {
        name: entry.fileName,
        isFile: !entry.fileName.endsWith('/') && isRegular(entry.externalFileAttributes),
        content: () => zip.openReadStreamPromise(entry),
      }
  } finally {
    zip.close()
  }
}

async function* tarEntries(file: string): AsyncGenerator<ArchiveEntry> {
  const tar = extract()
  const reading = pipeline(createReadStream(file), createGunzip(), tar)
  // An error of the file or of gzip is also thrown by the iteration.
  reading.catch(() => undefined)
  for await (const entry of tar) {
    const { name, type } = entry.header
    yield { name, isFile: type === 'file', content: async () => entry as unknown as Readable }
    entry.resume()
  }
  await reading
}

const safeName = (name: string): string => {
  const problem = name.includes('\0') ? 'a name with a zero byte' : validateFileName(name)
  if (problem !== null) throw new ToolError(`an entry leads out of the archive: ${problem}`)
  return name.replace(/^(?:\.\/)+/, '')
}

/** All entries with safe names, within the bounds. */
async function* entriesOf(archive: string, url: string): AsyncGenerator<ArchiveEntry> {
  let count = 0
  for await (const entry of url.endsWith('.zip') ? zipEntries(archive) : tarEntries(archive)) {
    count += 1
    if (count > MAX_ENTRIES) throw new ToolError(`it has more than ${MAX_ENTRIES} entries`)
    yield { ...entry, name: safeName(entry.name) }
  }
}

/** Writes files, and counts their bytes: the sizes that an archive states can be wrong. */
class Writer {
  #left = MAX_BYTES

  /** Returns the SHA-256. */
  async write(content: Readable, to: string, mode: number): Promise<string> {
    const hash = createHash('sha256')
    const measure = new Transform({
      transform: (chunk: Buffer, _, done) => {
        this.#left -= chunk.length
        hash.update(chunk)
        if (this.#left < 0) done(new ToolError(`it has more than ${MAX_BYTES} bytes of files`))
        else done(null, chunk)
      },
    })
    await pipeline(content, measure, createWriteStream(to, { mode }))
    // The mask of this process may have removed rights.
    await chmod(to, mode)
    return hash.digest('hex')
  }
}

const refusedAs = (url: string, error: unknown): ToolError =>
  new ToolError(`${url} cannot be unpacked: ${errorText(error)}`, { cause: error })

/** Unpacks one file of an archive as a program. Returns its SHA-256. */
export const unpackProgram = async (
  archive: string,
  url: string,
  name: string,
  to: string,
): Promise<string> => {
  try {
    let sha256: string | undefined
    for await (const entry of entriesOf(archive, url))
      if (entry.isFile && entry.name === name)
        sha256 = await new Writer().write(await entry.content(), to, PROGRAM_MODE)
    if (sha256 !== undefined) return sha256
  } catch (error) {
    throw refusedAs(url, error)
  }
  throw new ToolError(`${url} has no file ${name}: correct \`release.program\` in the manifest`)
}

/** Folders of a path, the outer ones first. */
const foldersOf = (name: string): string[] => {
  const parts = name.split('/').slice(0, -1)
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'))
}

/** Unpacks the files of one folder of an archive; links and devices are left out. Returns the SHA-256 of each file. */
export const unpackFolder = async (
  archive: string,
  url: string,
  folder: string,
  to: string,
): Promise<Record<string, string>> => {
  const files: Record<string, string> = {}
  const made = new Set<string>()
  const writer = new Writer()
  try {
    for await (const entry of entriesOf(archive, url)) {
      if (!entry.isFile || !entry.name.startsWith(`${folder}/`)) continue
      const name = entry.name.slice(folder.length + 1)
      for (const parent of foldersOf(name)) {
        if (made.has(parent)) continue
        await mkdir(join(to, parent), { recursive: true })
        await chmod(join(to, parent), FOLDER_MODE)
        made.add(parent)
      }
      files[name] = await writer.write(await entry.content(), join(to, name), FILE_MODE)
    }
  } catch (error) {
    throw refusedAs(url, error)
  }
  if (Object.keys(files).length === 0)
    throw new ToolError(`${url} has no files in ${folder}: correct \`release.folder\` in the manifest`)
  return files
}
