import { Worker } from 'node:worker_threads'

interface Reply {
  readonly output?: string
  readonly error?: string
}

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
    this.#worker ??= new Worker(new URL('jq-thread.ts', import.meta.url), { env: {} })
    const worker = this.#worker
    worker.ref()
    const { promise, resolve, reject } = Promise.withResolvers<Reply>()
    const stop = () => reject(new Error('cancelled'))
    const timer = setTimeout(
      () => reject(new Error(`the jq filter took longer than ${this.#timeMs / 1000}s`)),
      this.#timeMs,
    )
    worker.once('message', resolve)
    worker.once('error', reject)
    signal.addEventListener('abort', stop, { once: true })
    try {
      worker.postMessage({ text, filter })
      const { output, error } = await promise
      if (error !== undefined) throw new Error(error.trim())
      worker.unref()
      return output ?? ''
    } catch (error) {
      // It may still be computing, or wait with an answer to this question.
      this.#worker = undefined
      await worker.terminate()
      throw error
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
      worker.removeAllListeners()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#last
    await this.#worker?.terminate()
  }
}
