import { execFile } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync } from 'node:fs'
import { rm, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

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
  readonly folder: string = mkdtempSync(join(tmpdir(), 'scanfarm-pipes-'))
  readonly #free: string[] = []
  #made = 0
  #making: Promise<void> | undefined

  /** The caller closes the descriptor and gives the pipe back. */
  async open(): Promise<OutputPipe> {
    while (this.#free.length === 0) await (this.#making ??= this.#make())
    const path = this.#free.pop() ?? ''
    return { path, descriptor: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK) }
  }

  /** `clean`: its end was read. Otherwise someone may still write to it, and it is never used again. */
  async giveBack(pipe: OutputPipe, clean: boolean): Promise<void> {
    if (clean) this.#free.push(pipe.path)
    else await unlink(pipe.path)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#making
    await rm(this.folder, { recursive: true, force: true })
  }

  /** Mode 666: a command under another uid may open its /dev/stdout. The folder is closed to others. */
  async #make(): Promise<void> {
    const paths = Array.from({ length: BATCH }, () => join(this.folder, String(++this.#made)))
    try {
      await promisify(execFile)('mkfifo', ['-m', '666', ...paths])
      this.#free.push(...paths)
    } finally {
      this.#making = undefined
    }
  }
}

export const closeUnread = (pipe: OutputPipe): void => closeSync(pipe.descriptor)
