import { open, rm, mkdtemp, type FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A body that can be read a second time. */
export class Replay {
  #file: FileHandle | undefined

  /** Yields the body, and keeps it. */
  async *first(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    this.#file = await unnamedFile()
    for await (const chunk of body) {
      await this.#file.appendFile(chunk)
      yield chunk
    }
  }

  async *again(): AsyncGenerator<Uint8Array> {
    if (this.#file !== undefined) yield* this.#file.createReadStream({ start: 0, autoClose: false })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file?.close()
  }
}

/** A file that disappears with the process, however it ends. */
const unnamedFile = async (): Promise<FileHandle> => {
  const folder = await mkdtemp(join(tmpdir(), 'scanfarm-import-'))
  try {
    return await open(join(folder, 'report'), 'wx+', 0o600)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
