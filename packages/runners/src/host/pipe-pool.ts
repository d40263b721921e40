import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { closeSync, constants, lstatSync, mkdirSync, openSync } from 'node:fs'
import { rm, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { codeOf } from '../error-facts.ts'

const BATCH = 32

/** The reading end of a named pipe for the output of one command. */
export interface OutputPipe {
  readonly path: string
  readonly descriptor: number
}

/**
 * Named pipes for the output of commands. A named pipe, unlike the sockets which Node gives its children, can be opened
 * as /dev/stdout, and it goes from the command straight to its reader whoever starts the command. A pipe that was read
 * to its end has no writer left and serves the next command.
 */
export class PipePool implements AsyncDisposable {
  /** Made when the first pipe is. */
  readonly folder: string = join(tmpdir(), `scanfarm-pipes-${randomUUID()}`)
  readonly #free: string[] = []
  #made = 0
  #making: Promise<void> | undefined

  /** The caller closes the descriptor and gives the pipe back. Rejects when the machine is out of descriptors. */
  async open(): Promise<OutputPipe> {
    // A pipe just made may be gone as well, though hardly twice.
    for (;;) {
      while (this.#free.length === 0) await (this.#making ??= this.#make())
      const path = this.#free.pop() ?? ''
      try {
        return { path, descriptor: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK) }
      } catch (error) {
        // Machines clean their folder for temporary files of what was not used for days.
        if (codeOf(error) !== 'ENOENT') throw error
      }
    }
  }

  /** `clean`: its end was read. Otherwise someone may still write to it, and it is never used again. */
  async giveBack(pipe: OutputPipe, clean: boolean): Promise<void> {
    if (clean) this.#free.push(pipe.path)
    else await unlink(pipe.path).catch(() => {})
  }

  /** For a pipe that nobody reads from. `clean`: nobody ever wrote to it either. */
  async closeAndGiveBack(pipe: OutputPipe, clean: boolean): Promise<void> {
    closeSync(pipe.descriptor)
    await this.giveBack(pipe, clean)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#making?.catch(() => {})
    await rm(this.folder, { recursive: true, force: true })
  }

  /** Mode 666: a command under another uid may open its /dev/stdout. The folder is closed to others. */
  async #make(): Promise<void> {
    const paths = Array.from({ length: BATCH }, () => join(this.folder, String(++this.#made)))
    try {
      ensureClosedFolder(this.folder)
      await promisify(execFile)('mkfifo', ['-m', '666', ...paths])
      this.#free.push(...paths)
    } finally {
      this.#making = undefined
    }
  }
}

/** A folder that was cleaned away may have come back as someone else's. */
function ensureClosedFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
    const { uid, mode } = lstatSync(folder)
    if (uid !== process.getuid?.() || (mode & 0o077) !== 0)
      throw new Error(`${folder} is open to others`, { cause: error })
  }
}
