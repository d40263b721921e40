import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { threadEnv } from './thread-env.ts'

export interface SerialThreadOptions {
  /** What a question is, for messages. */
  readonly what: string
  readonly timeMs: number
  readonly memoryMb?: number
  /** Idle time after which the thread is ended; missing: it stays. */
  readonly idleMs?: number
}

/** Time to load what a thread needs, which may take many seconds on a busy machine. */
const START_MS = 120_000

/**
 * A thread that answers one question after the other. Its first message says that it is loaded. If it exceeds its limits or
 * the caller cancels, it is terminated, and the next question gets a new one.
 */
export class SerialThread<Question, Answer> implements AsyncDisposable {
  readonly #file: URL
  readonly #options: SerialThreadOptions
  #worker: Worker | undefined
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0
  #idle: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(file: URL, options: SerialThreadOptions) {
    this.#file = file
    this.#options = options
  }

  /** Questions without an answer. */
  get waiting(): number {
    return this.#waiting
  }

  /** Rejects if the thread was stopped. */
  async ask(question: Question, signal?: AbortSignal): Promise<Answer> {
    this.#waiting += 1
    const turn = this.#last.then(() => this.#ask(question, signal))
    this.#last = turn.catch(() => undefined)
    try {
      return await turn
    } finally {
      this.#waiting -= 1
      const { idleMs } = this.#options
      if (this.#waiting === 0 && idleMs !== undefined)
        this.#idle = setTimeout(() => void this.#end(), idleMs).unref()
    }
  }

  async #ask(question: Question, signal?: AbortSignal): Promise<Answer> {
    clearTimeout(this.#idle)
    signal?.throwIfAborted()
    const { what, timeMs } = this.#options
    if (this.#isClosed) throw new Error(`${what} was stopped`)
    const isNew = this.#worker === undefined
    const worker = (this.#worker ??= this.#start())
    worker.ref()
    try {
      if (isNew) await this.#messageOf(worker, START_MS, signal)
      worker.postMessage(question)
      return (await this.#messageOf(worker, timeMs, signal)) as Answer
    } catch (error) {
      // It may still be computing; its late answer would be taken for that of the next question.
      await this.#end()
      throw error
    } finally {
      worker.unref()
    }
  }

  /** Its next message. */
  async #messageOf(worker: Worker, timeMs: number, signal?: AbortSignal): Promise<unknown> {
    const { what } = this.#options
    const over = new AbortController()
    const stopped = Promise.withResolvers<never>()
    const stop = (): void => stopped.reject(new Error(`${what} was stopped`))
    const late = (): void => stopped.reject(new Error(`${what} took longer than ${timeMs / 1000}s`))
    const timer = setTimeout(late, timeMs)
    worker.once('exit', stop)
    signal?.addEventListener('abort', stop)
    try {
      const message = once(worker, 'message', { signal: over.signal })
      const found: readonly unknown[] = await Promise.race([message, stopped.promise])
      return found[0]
    } finally {
      clearTimeout(timer)
      over.abort('over')
      worker.off('exit', stop)
      signal?.removeEventListener('abort', stop)
    }
  }

  #start(): Worker {
    const worker = new Worker(this.#file, {
      env: threadEnv(),
      resourceLimits: { maxOldGenerationSizeMb: this.#options.memoryMb },
    })
    // Without a listener the error of an idle thread would end this process.
    worker.on('error', () => undefined)
    worker.once('exit', () => {
      if (this.#worker === worker) this.#worker = undefined
    })
    return worker
  }

  async #end(): Promise<void> {
    const worker = this.#worker
    this.#worker = undefined
    await worker?.terminate()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#idle)
    await this.#end()
    await this.#last
  }
}
