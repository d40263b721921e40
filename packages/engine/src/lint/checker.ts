import { Worker } from 'node:worker_threads'
import { brokenEntry, type CheckedFile, type SourceFile } from '@scanfarm/language'
import { checkSource } from '../library/open-library.ts'
import { threadEnv } from '../thread-env.ts'

export interface CheckerOptions {
  /** Time limit for one file. */
  readonly timeMs?: number
  /** Maximum number of waiting files; one more is refused with `CheckerBusy`. */
  readonly maxWaiting?: number
  /** Memory limit of the thread. */
  readonly memoryMb?: number
  /** Idle time after which the thread is ended. */
  readonly idleMs?: number
}

/** Thrown when too many files are waiting. */
export class CheckerBusy extends Error {
  override readonly name = 'CheckerBusy'
}

interface CheckThread {
  readonly thread: Worker
  readonly ready: Promise<unknown>
}

/** Files of up to this many characters are checked on the caller's thread: that takes a few milliseconds. */
const MAX_INLINE_CHARS = 4 * 1024

/**
 * Reads and checks workflow files in a thread, one after the other, so that no file blocks the event loop. If a file
 * exceeds the time or memory limit, the thread is terminated, the file is reported as invalid, and the next file gets a
 * new thread.
 */
export class WorkflowChecker implements AsyncDisposable {
  readonly #timeMs: number
  readonly #maxWaiting: number
  readonly #memoryMb: number
  readonly #idleMs: number
  #worker: CheckThread | undefined
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0
  #idle: NodeJS.Timeout | undefined
  #closed = false

  constructor({
    timeMs = 30_000,
    maxWaiting = Infinity,
    memoryMb = 256,
    idleMs = 10_000,
  }: CheckerOptions = {}) {
    this.#timeMs = timeMs
    this.#maxWaiting = maxWaiting
    this.#memoryMb = memoryMb
    this.#idleMs = idleMs
  }

  async check(file: SourceFile): Promise<CheckedFile> {
    if (file.text.length <= MAX_INLINE_CHARS) return checkSource(file)
    if (this.#waiting > this.#maxWaiting) throw new CheckerBusy('too many workflow files wait to be checked')
    this.#waiting += 1
    const turn = this.#last.then(async () => await this.#turn(file))
    this.#last = turn.catch(() => undefined)
    try {
      return await turn
    } finally {
      this.#waiting -= 1
      if (this.#waiting === 0) this.#idle = setTimeout(() => void this.#end(), this.#idleMs).unref()
    }
  }

  async #turn(file: SourceFile): Promise<CheckedFile> {
    clearTimeout(this.#idle)
    if (this.#closed) return this.#tooMuch(file)
    const { thread, ready } = (this.#worker ??= this.#start())
    thread.ref()
    const { promise, resolve, reject } = Promise.withResolvers<CheckedFile>()
    let timer: NodeJS.Timeout | undefined
    const fail = (): void => reject(new Error('the thread ended'))
    try {
      await ready
      timer = setTimeout(() => resolve(this.#tooMuch(file)), this.#timeMs)
      thread.on('message', resolve).on('error', fail).on('exit', fail)
      thread.postMessage(file)
      const checked = await promise
      if (checked.problems.some(({ rule }) => rule === TOO_MUCH)) await this.#end()
      return checked
    } catch {
      await this.#end()
      return this.#tooMuch(file)
    } finally {
      clearTimeout(timer)
      thread.off('message', resolve).off('error', fail).off('exit', fail)
      thread.unref()
    }
  }

  #tooMuch({ source, path }: SourceFile): CheckedFile {
    const message = `The file takes more than ${this.#timeMs / 1000}s or ${this.#memoryMb} MiB to check. Split it.`
    const entry = brokenEntry(source, path, TOO_MUCH, message)
    return { entry, problems: entry.problems }
  }

  #start(): CheckThread {
    const thread = new Worker(new URL('check-thread.ts', import.meta.url), {
      env: threadEnv(),
      resourceLimits: { maxOldGenerationSizeMb: this.#memoryMb },
    })
    const { promise: ready, resolve, reject } = Promise.withResolvers<unknown>()
    ready.catch(() => undefined)
    thread.once('message', resolve)
    // An unhandled error event would end the process.
    thread.on('error', reject)
    thread.once('exit', () => {
      reject(new Error('the thread ended'))
      if (this.#worker?.thread === thread) this.#worker = undefined
    })
    return { thread, ready }
  }

  async #end(): Promise<void> {
    const worker = this.#worker
    this.#worker = undefined
    await worker?.thread.terminate()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    clearTimeout(this.#idle)
    await this.#end()
    await this.#last
  }
}

const TOO_MUCH = 'too-slow'
