import { constants } from 'node:fs'
import { mkdir, open, realpath, rm, type FileHandle } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'

/** Most bytes that one `pull` copies to this machine. */
export const MAX_PULL_BYTES = 16 * 1024 ** 3

/**
 * Writes files that a container or another machine sends into one folder. The sender is not trusted: no name and no link
 * leads outside the folder, and the total of bytes is bounded.
 */
export class ReceivedFiles {
  readonly #root: string
  #left = MAX_PULL_BYTES

  constructor(root: string) {
    this.#root = root
  }

  async folder(path: string): Promise<void> {
    const inside = this.#check(path)
    await mkdir(inside, { recursive: true })
    await this.#checkReal(inside)
  }

  /** Opens an empty file for writing; replaces an existing file. */
  async file(path: string): Promise<FileHandle> {
    const inside = this.#check(path)
    const parent = dirname(inside)
    await mkdir(parent, { recursive: true })
    await this.#checkReal(parent)
    await rm(inside, { force: true })
    return await open(
      inside,
      constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
      0o644,
    )
  }

  /** A stage of a pipeline that fails when the total exceeds the limit. */
  counted(): (chunks: AsyncIterable<Buffer>) => AsyncGenerator<Buffer> {
    const count = (bytes: number): void => {
      this.#left -= bytes
      if (this.#left < 0)
        throw new Error(`more than ${MAX_PULL_BYTES} bytes were received, which is the limit`)
    }
    return async function* (chunks) {
      for await (const chunk of chunks) {
        count(chunk.length)
        yield chunk
      }
    }
  }

  #check(path: string): string {
    const normalized = join(path)
    if (normalized !== this.#root && !normalized.startsWith(this.#root + sep))
      throw new Error(`${path} is outside the folder ${this.#root}`)
    return normalized
  }

  async #checkReal(folder: string): Promise<void> {
    const [real, root] = [await realpath(folder), await realpath(this.#root)]
    if (real !== root && !real.startsWith(root + sep))
      throw new Error(`${folder} leads outside the folder ${this.#root}`)
  }
}
