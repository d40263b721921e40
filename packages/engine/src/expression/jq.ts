import { Worker } from 'node:worker_threads'
import { JqError } from '@scanfarm/functions'
import { threadEnv } from '../thread-env.ts'

interface Reply {
  readonly output?: string
  readonly error?: string
}

/** Time to load jq. */
const START_MS = 30_000

/**
 * Runs jq filters in one thread, one after the other. When a filter exceeds its time limit or its run is cancelled, the
 * thread is terminated and the next filter gets a new one.
 */
export class JqEngine implements AsyncDisposable {
  readonly #timeMs: number
  #worker: Worker | undefined
  #last: Promise<unknown> = Promise.resolve()

  constructor(timeMs: number) {
    this.#timeMs = timeMs
  }

  /** Returns the results as JSON, one per line. Rejects with the error message of jq. */
  async run(text: string, filter: string, signal: AbortSignal): Promise<string> {
    const turn = this.#last.then(async () => await this.#run(text, filter, signal))
    this.#last = turn.catch(() => undefined)
    return await turn
  }

  async #run(text: string, filter: string, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted()
    const isNew = this.#worker === undefined
    const worker = (this.#worker ??= new Worker(new URL('jq-thread.ts', import.meta.url), {
      env: threadEnv(),
    }))
    worker.ref()
    try {
      // The first message reports that jq is loaded. Loading may take seconds on a busy machine and does not count as
      // time of the filter.
      if (isNew) await answerOf(worker, START_MS, signal)
      worker.postMessage({ text, filter })
      const { error, output = '' } = await answerOf(worker, this.#timeMs, signal)
      worker.unref()
      if (error === undefined) return output
      throw new JqError(error.replace(/^Failed to execute raw query: /, '').trim())
    } catch (error) {
      if (error instanceof JqError) throw error
      // The thread may still be computing; its late result would be taken for that of the next filter.
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

/** Waits for the next message of the thread. Rejects on timeout and on cancel. */
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
