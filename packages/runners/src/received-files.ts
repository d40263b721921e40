import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { openBelow, unless, withPath } from '@scanfarm/paths'

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
    // The folders above the entry are made.
    const { folder } = await openBelow(join(path, 'entry'), [this.#root], { make: {} })
    folder[Symbol.dispose]()
  }

  /** Opens an empty file for writing; replaces an existing file. */
  async file(path: string): Promise<FileHandle> {
    const { folder, name } = await openBelow(path, [this.#root], { make: {} })
    using _ = folder
    try {
      await folder.unlink(name).catch(unless(['ENOENT'], () => {}))
      return await folder.create(name, { mode: 0o644 })
    } catch (error) {
      throw withPath(error, path)
    }
  }

  /** Copies a received file, whose sender has it under two names. */
  async copy(from: string, to: string): Promise<void> {
    const { folder, name } = await openBelow(from, [this.#root])
    using _ = folder
    using handle = folder.entry(name)
    // A process of this machine may have replaced it.
    if (!handle.facts.isFile() || handle.facts.nlink > 1)
      throw new Error(`${from} has changed since it was received`)
    const source = await handle.open()
    const target = await this.file(to)
    await pipeline(source.createReadStream(), this.counted(), target.createWriteStream())
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
}
