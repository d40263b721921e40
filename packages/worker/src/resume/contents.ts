import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'
import type { ArtifactStore } from '@scanfarm/contracts'
import type { Mask } from '@scanfarm/engine'
import type { PathHandle } from '@scanfarm/paths'
import { NotResumable } from './work-files.ts'

/** The content of a file in the artifact store. */
export interface StoredFile {
  readonly key: string
  /** Where it begins in an object of several contents. */
  readonly at?: number
  readonly size: number
  readonly sha256: string
}

export interface ContentsOptions {
  readonly artifacts: Pick<ArtifactStore, 'get' | 'put'>
  /** Prefix of the keys of new contents. */
  readonly prefix: string
  /** What a stored file must not contain. */
  readonly mask: Mask
  /** Most bytes that one run stores. */
  readonly maxBytes: number
}

const MIB = 1024 * 1024

/** Files of a run by their content: each content is stored once. */
export class Contents {
  readonly #options: ContentsOptions
  readonly #locations = new Map<string, Pick<StoredFile, 'key' | 'at'>>()
  #bytes = 0

  constructor(options: ContentsOptions) {
    this.#options = options
  }

  /** The content is in the store, from an earlier attempt. */
  note({ sha256, size, ...location }: StoredFile): void {
    if (!this.#locations.has(sha256)) this.#bytes += size
    this.#locations.set(sha256, location)
  }

  /** Bytes that may still be stored. */
  get bytesLeft(): number {
    return this.#options.maxBytes - this.#bytes
  }

  /** Throws unless further files with so many bytes may be stored. */
  checkSize(bytes: number): void {
    const { maxBytes } = this.#options
    if (this.#bytes + bytes > maxBytes)
      throw new NotResumable(
        `its files have more than ${Math.floor(maxBytes / MIB)} MiB: resume.max_bytes (SCANFARM_RESUME_MAX_BYTES) is the limit`,
      )
  }

  /** Stores the bytes of a file between two offsets. Undefined: it changed meanwhile. */
  async store(handle: PathHandle, to: number, from = 0): Promise<StoredFile | undefined> {
    await using file = await openFile(handle)
    const size = to - from
    const sha256 = await this.#hash(handle.shownPath, contentOf(file, to, from))
    const known = this.#locations.get(sha256)
    if (known !== undefined) return { ...known, size, sha256 }
    this.checkSize(size)
    const key = `${this.#options.prefix}/files/${sha256}`
    const stored = await this.#options.artifacts.put(key, contentOf(file, to, from))
    if (stored.sha256 !== sha256) return undefined
    this.note({ key, size, sha256 })
    return { key, size, sha256 }
  }

  /** Stores small files as one object, since each object costs more than their bytes. Resolves to them by what names them. */
  async storeTogether<K extends string | { readonly path: string }>(
    files: ReadonlyMap<K, Buffer>,
  ): Promise<ReadonlyMap<K, StoredFile>> {
    const found = [...files].map(([name, bytes]) => {
      const path = typeof name === 'string' ? name : name.path
      return { name, bytes, sha256: this.#hashOfBytes(path, bytes) }
    })
    const fresh = new Map(
      found.filter(({ sha256 }) => !this.#locations.has(sha256)).map(({ sha256, bytes }) => [sha256, bytes]),
    )
    const all = Buffer.concat([...fresh.values()])
    this.checkSize(all.length)
    const key = `${this.#options.prefix}/files/${createHash('sha256').update(all).digest('hex')}`
    if (fresh.size > 0) await this.#options.artifacts.put(key, Readable.from([all]))
    let at = 0
    for (const [sha256, { length: size }] of fresh) {
      this.note({ key, at, size, sha256 })
      at += size
    }
    return new Map(
      found.flatMap(({ name, bytes, sha256 }) => {
        const location = this.#locations.get(sha256)
        return location === undefined ? [] : [[name, { ...location, size: bytes.length, sha256 }]]
      }),
    )
  }

  async hashOf(handle: PathHandle): Promise<string> {
    await using file = await openFile(handle)
    return await hashOf(contentOf(file, handle.facts.size))
  }

  /** Whether the file has this content. */
  async isStored(handle: PathHandle, stored: StoredFile): Promise<boolean> {
    return (
      handle.facts.isFile() && handle.facts.size === stored.size && (await this.beginsWith(handle, stored))
    )
  }

  async beginsWith(
    handle: PathHandle,
    { size, sha256 }: Pick<StoredFile, 'size' | 'sha256'>,
  ): Promise<boolean> {
    await using file = await handle.open()
    return (await hashOf(contentOf(file, size))) === sha256
  }

  async read({ key, at, size }: StoredFile): Promise<Readable> {
    if (size === 0) return Readable.from([])
    const range = at === undefined ? undefined : { start: at, end: at + size - 1 }
    const found = await this.#options.artifacts.get(key, range)
    if (found === undefined) throw new Error(`the artifact store has no ${key} any more`)
    return found.body
  }

  /** Throws if the content names a secret or the folder of the attempt, which the next attempt does not have. */
  async #hash(path: string, content: Readable): Promise<string> {
    const hash = createHash('sha256')
    const through = async function* (): AsyncGenerator<Buffer> {
      for await (const chunk of content as AsyncIterable<Buffer>) {
        hash.update(chunk)
        yield chunk
      }
    }
    const masked = await hashOf(this.#options.mask.stream(through()))
    const plain = hash.digest('hex')
    if (masked !== plain) throw containsSecret(path)
    return plain
  }

  /** The same for a small file: streams cost more than its bytes. */
  #hashOfBytes(path: string, bytes: Buffer): string {
    const chunks = this.#options.mask.chunks(true)
    if (!Buffer.concat([chunks.push(bytes), chunks.end()]).equals(bytes)) throw containsSecret(path)
    return createHash('sha256').update(bytes).digest('hex')
  }
}

const containsSecret = (path: string): NotResumable =>
  new NotResumable(`${path} contains a secret or the path of the folder TempDir`)

const openFile = async (handle: PathHandle): Promise<FileHandle> =>
  await handle.open().catch((error: unknown) => {
    throw new NotResumable(`${handle.shownPath} cannot be read`, { cause: error })
  })

/** The bytes of a file from one on. */
export const bytesOf = async (handle: PathHandle, from = 0): Promise<Buffer> => {
  await using file = await openFile(handle)
  const bytes = Buffer.alloc(Math.max(0, handle.facts.size - from))
  let read = 0
  while (read < bytes.length) {
    const { bytesRead } = await file.read(bytes, read, bytes.length - read, from + read)
    if (bytesRead === 0) break
    read += bytesRead
  }
  return bytes.subarray(0, read)
}

/** Positions are explicit, so that the file can be read again. */
const contentOf = (file: FileHandle, to: number, from = 0): Readable =>
  to <= from ? Readable.from([]) : file.createReadStream({ start: from, end: to - 1, autoClose: false })

const hashOf = async (bytes: AsyncIterable<Buffer>): Promise<string> => {
  const hash = createHash('sha256')
  for await (const chunk of bytes) hash.update(chunk)
  return hash.digest('hex')
}
