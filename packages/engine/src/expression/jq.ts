import { JqError } from '@scanfarm/functions'
import { SerialThread } from '../serial-thread.ts'

interface Filter {
  readonly text: string
  readonly filter: string
}

interface Reply {
  readonly output?: string
  readonly error?: string
}

/** Runs jq filters in one thread, one after the other. */
export class JqEngine implements AsyncDisposable {
  readonly #thread: SerialThread<Filter, Reply>

  constructor(timeMs: number) {
    this.#thread = new SerialThread(new URL('jq-thread.ts', import.meta.url), {
      what: 'the jq filter',
      timeMs,
    })
  }

  /** Returns the results as JSON, one per line. Rejects with the error message of jq. */
  async run(text: string, filter: string, signal: AbortSignal): Promise<string> {
    const { error, output = '' } = await this.#thread.ask({ text, filter }, signal)
    if (error === undefined) return output
    throw new JqError(error.replace(/^Failed to execute raw query: /, '').trim())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#thread[Symbol.asyncDispose]()
  }
}
