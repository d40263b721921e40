import { brokenEntry, type CheckedFile, type SourceFile } from '@scanfarm/language'
import { checkSource } from '../library/open-library.ts'
import { SerialThread } from '../serial-thread.ts'

export interface CheckerOptions {
  /** Time limit for one file. */
  readonly timeMs?: number
  /** Maximum number of waiting files; one more is refused with `CheckerBusy`. */
  readonly maxWaiting?: number
  /** Memory limit of the thread. */
  readonly memoryMb?: number
}

/** Thrown when too many files are waiting. */
export class CheckerBusy extends Error {
  override readonly name = 'CheckerBusy'
}

/** Files of up to this many characters are checked on the caller's thread: that takes a few milliseconds. */
const MAX_INLINE_CHARS = 4 * 1024
const IDLE_MS = 10_000
const TOO_MUCH = 'too-slow'

/**
 * Reads and checks workflow files in a thread, one after the other, so that no file blocks the event loop. A file that
 * exceeds the time or memory limit is reported as invalid.
 */
export class WorkflowChecker implements AsyncDisposable {
  readonly #thread: SerialThread<SourceFile, CheckedFile>
  readonly #maxWaiting: number
  readonly #limits: string

  constructor({ timeMs = 30_000, maxWaiting = Infinity, memoryMb = 256 }: CheckerOptions = {}) {
    const limits = { what: 'the check', timeMs, memoryMb, idleMs: IDLE_MS }
    this.#thread = new SerialThread(new URL('check-thread.ts', import.meta.url), limits)
    this.#maxWaiting = maxWaiting
    this.#limits = `${timeMs / 1000}s or ${memoryMb} MiB`
  }

  async check(file: SourceFile): Promise<CheckedFile> {
    if (file.text.length <= MAX_INLINE_CHARS) return checkSource(file)
    if (this.#thread.waiting > this.#maxWaiting)
      throw new CheckerBusy('too many workflow files wait to be checked')
    return await this.#thread.ask(file).catch(() => this.#tooMuch(file))
  }

  #tooMuch({ source, path }: SourceFile): CheckedFile {
    const message = `The file takes more than ${this.#limits} to check. Split it.`
    const entry = brokenEntry(source, path, TOO_MUCH, message)
    return { entry, problems: entry.problems }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#thread[Symbol.asyncDispose]()
  }
}
