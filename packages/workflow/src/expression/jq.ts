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
    const stop = () => reject(new Error('the jq filter was stopped'))
    const timer = setTimeout(
      () => reject(new Error(`the jq filter took longer than ${this.#timeMs / 1000}s`)),
      this.#timeMs,
    )
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', stop)
    signal.addEventListener('abort', stop, { once: true })
    let reply: Reply
    try {
      worker.postMessage({ text, filter })
      reply = await promise
    } catch (error) {
      // It may still be computing, and would answer this question to the next one.
      this.#worker = undefined
      await worker.terminate()
      throw error
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
      worker.off('message', resolve)
      worker.off('error', reject)
      worker.off('exit', stop)
    }
    worker.unref()
    if (reply.error === undefined) return reply.output ?? ''
    throw new Error(reply.error.replace(/^Failed to execute raw query: /, '').trim())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#last
    await this.#worker?.terminate()
  }
}
