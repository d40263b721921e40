import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { ArtifactStore } from '@scanfarm/contracts'
import type { Mask } from '@scanfarm/engine'
import type { Held } from '@scanfarm/paths'
import { NotResumable } from './work-files.ts'

/** The content of a file in the artifact store. */
export interface StoredFile {
  readonly key: string
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
  readonly #keys = new Map<string, string>()
  #bytes = 0

  constructor(options: ContentsOptions) {
    this.#options = options
  }

  /** The content is in the store, from an earlier attempt. */
  note({ key, sha256, size }: StoredFile): void {
    if (!this.#keys.has(sha256)) this.#bytes += size
    this.#keys.set(sha256, key)
  }

  /** Throws unless further files with so many bytes may be stored. */
  demandRoom(bytes: number): void {
    const { maxBytes } = this.#options
    if (this.#bytes + bytes > maxBytes)
      throw new NotResumable(
        `its files have more than ${Math.floor(maxBytes / MIB)} MiB: resume.max_bytes (SCANFARM_RESUME_MAX_BYTES) is the limit`,
      )
  }

  /** Stores the first `size` bytes of a file. Undefined: it changed meanwhile. */
  async store(held: Held, size: number): Promise<StoredFile | undefined> {
    await using file = await openFile(held)
    return await this.storeBytes(held.shownPath, size, () => contentOf(file, size))
  }

  /** The same for the bytes that `open` reads, which is called twice. */
  async storeBytes(path: string, size: number, open: () => Readable): Promise<StoredFile | undefined> {
    const sha256 = await this.#hash(path, open())
    const known = this.#keys.get(sha256)
    if (known !== undefined) return { key: known, size, sha256 }
    this.demandRoom(size)
    const key = `${this.#options.prefix}/files/${sha256}`
    const stored = await this.#options.artifacts.put(key, open())
    if (stored.sha256 !== sha256) return undefined
    this.#keys.set(sha256, key)
    this.#bytes += size
    return { key, size, sha256 }
  }

  /** Whether the file has this content. */
  async isStored(held: Held, { size, sha256 }: StoredFile): Promise<boolean> {
    if (!held.facts.isFile() || held.facts.size !== size) return false
    await using file = await held.open()
    return (await hashOf(contentOf(file, size))) === sha256
  }

  async read({ key }: StoredFile): Promise<Readable> {
    const found = await this.#options.artifacts.get(key)
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
    if (masked !== plain)
      throw new NotResumable(`${path} contains a secret or the path of the folder TempDir`)
    return plain
  }
}

const openFile = async (held: Held): Promise<FileHandle> =>
  await held.open().catch((error: unknown) => {
    throw new NotResumable(`${held.shownPath} cannot be read`, { cause: error })
  })

/** The bytes of a file. */
export const bytesOf = async (held: Held): Promise<Buffer> => {
  await using file = await openFile(held)
  return await buffer(contentOf(file, held.facts.size))
}

/** Positions are explicit, so that the file can be read again. */
const contentOf = (file: FileHandle, size: number): Readable =>
  size === 0 ? Readable.from([]) : file.createReadStream({ start: 0, end: size - 1, autoClose: false })

const hashOf = async (bytes: AsyncIterable<Buffer>): Promise<string> => {
  const hash = createHash('sha256')
  for await (const chunk of bytes) hash.update(chunk)
  return hash.digest('hex')
}
