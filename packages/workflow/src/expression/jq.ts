import { Worker } from 'node:worker_threads'

interface Reply {
  readonly output?: string
  readonly error?: string
}

/** What jq itself says of a filter, or of its work on the value. */
export class JqError extends Error {}

/** For loading jq. */
const START_MS = 30_000

/**
 * Runs jq filters in a thread of their own, one after the other. A filter that takes too long, or whose run is
 * cancelled, is ended together with the thread; the next one gets a new thread.
 */
export class JqEngine implements AsyncDisposable {
  readonly #timeMs: number
  #worker: Worker | undefined
  #last: Promise<unknown> = Promise.resolve()

  constructor(timeMs: number) {
    this.#timeMs = timeMs
  }

  /** Results as JSON, one a line. Rejects with the words of jq. */
  async run(text: string, filter: string, signal: AbortSignal): Promise<string> {
    const turn = this.#last.then(async () => await this.#run(text, filter, signal))
    this.#last = turn.catch(() => undefined)
    return await turn
  }

  async #run(text: string, filter: string, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted()
    const isNew = this.#worker === undefined
    const worker = (this.#worker ??= new Worker(new URL('jq-thread.ts', import.meta.url), { env: {} }))
    worker.ref()
    try {
      // Its first message: a busy machine may take seconds to load jq, which is not the time of the filter.
      if (isNew) await answerOf(worker, START_MS, signal)
      worker.postMessage({ text, filter })
      const { error, output = '' } = await answerOf(worker, this.#timeMs, signal)
      worker.unref()
      if (error === undefined) return output
      throw new JqError(error.replace(/^Failed to execute raw query: /, '').trim())
    } catch (error) {
      if (error instanceof JqError) throw error
      // It may still be computing, and would answer this question to the next one.
      this.#worker = undefined
      await worker.terminate()
      throw error
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#last
    await this.#worker?.terminate()
  }
}

/** The next message of the thread. Rejects when there is none in time, or the run is cancelled. */
const answerOf = async (worker: Worker, timeMs: number, signal: AbortSignal): Promise<Reply> => {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>()
  const stop = () => reject(new Error('the jq filter was stopped'))
  const late = () => reject(new Error(`the jq filter took longer than ${timeMs / 1000}s`))
  const timer = setTimeout(late, timeMs)
  worker.once('message', resolve)
  worker.once('error', reject)
  worker.once('exit', stop)
  signal.addEventListener('abort', stop, { once: true })
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
    worker.off('message', resolve)
    worker.off('error', reject)
    worker.off('exit', stop)
  }
}
