import { execFile } from 'node:child_process'
import { closeSync, constants, lstatSync, mkdirSync, openSync } from 'node:fs'
import { rm, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { newUuid } from '@scanfarm/platform'
import { codeOf } from '@scanfarm/paths'

const BATCH = 16

/** The reading end of a named pipe for the output of one command. */
export interface OutputPipe {
  readonly path: string
  readonly descriptor: number
}

/**
 * Named pipes for the output of commands. Unlike the sockets that Node gives its children, a named pipe can be opened as
 * /dev/stdout, and connects the command directly with this program although the launcher starts it. A pipe that was
 * read to its end has no writer left and is reused.
 */
export class PipePool implements AsyncDisposable {
  /** Created with the first pipe. */
  readonly folder: string = join(tmpdir(), `scanfarm-pipes-${newUuid()}`)
  readonly #free: string[] = []
  readonly #makeFast: (paths: readonly string[]) => Promise<boolean>
  #made = 0
  #making: Promise<void> | undefined

  /** `make`: makes pipes of mode 666 without starting a process. False: it failed, and some of them may exist. */
  constructor(make: (paths: readonly string[]) => Promise<boolean> = async () => false) {
    this.#makeFast = make
  }

  /** Makes the first pipes; called early, it saves the first command the wait. */
  start(): void {
    // The first command tries again, and reports the reason.
    void (this.#making ??= this.#make()).catch(() => {})
  }

  /** The caller closes the descriptor and releases the pipe. Rejects when the process has no free descriptors. */
  async open(): Promise<OutputPipe> {
    // A pipe that was just made may be deleted as well, but hardly twice.
    for (;;) {
      while (this.#free.length === 0) await (this.#making ??= this.#make())
      const path = this.#free.pop() ?? ''
      try {
        return { path, descriptor: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK) }
      } catch (error) {
        // Systems delete temporary files that were not used for days.
        if (codeOf(error) !== 'ENOENT') throw error
      }
    }
  }

  /** `clean`: its end was read. Otherwise a process may still write to it, and it is deleted. */
  async release(pipe: OutputPipe, clean: boolean): Promise<void> {
    if (clean) this.#free.push(pipe.path)
    else await unlink(pipe.path).catch(() => {})
  }

  /** For a pipe without a reader. `clean`: it never had a writer either. */
  async closeAndRelease(pipe: OutputPipe, clean: boolean): Promise<void> {
    closeSync(pipe.descriptor)
    await this.release(pipe, clean)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#making?.catch(() => {})
    await rm(this.folder, { recursive: true, force: true })
  }

  /** Mode 666: a command with another uid can open its /dev/stdout. The folder is closed to other users. */
  async #make(): Promise<void> {
    const paths = Array.from({ length: BATCH }, () => join(this.folder, String(++this.#made)))
    try {
      ensureClosedFolder(this.folder)
      if (!(await this.#makeFast(paths))) {
        await Promise.all(paths.map((path) => rm(path, { force: true })))
        await promisify(execFile)('mkfifo', ['-m', '666', ...paths])
      }
      this.#free.push(...paths)
    } finally {
      this.#making = undefined
    }
  }
}

/** A deleted folder may have been created again by another user. */
function ensureClosedFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
    const { uid, mode } = lstatSync(folder)
    if (uid !== process.getuid?.() || (mode & 0o077) !== 0)
      throw new Error(`the folder for pipes, ${folder}, is open to other users or belongs to one`, {
        cause: error,
      })
  }
}
