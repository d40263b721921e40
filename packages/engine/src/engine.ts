import { ExpressionEngine, type EngineOptions } from './expression/engine.ts'
import { JqEngine } from './expression/jq.ts'
import { EXPRESSION_LIMITS } from './expression/messages.ts'

/** State that all runs of a process share: the threads that evaluate expressions. */
export class Engine implements AsyncDisposable {
  readonly #options: EngineOptions
  #expressions: ExpressionEngine | undefined
  #jq: JqEngine | undefined

  constructor(options: EngineOptions = {}) {
    this.#options = options
  }

  /** Created on first use. */
  get expressions(): ExpressionEngine {
    this.#expressions ??= new ExpressionEngine(this.#options)
    return this.#expressions
  }

  get jq(): JqEngine {
    this.#jq ??= new JqEngine(this.#options.limits?.timeMs ?? EXPRESSION_LIMITS.timeMs)
    return this.#jq
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#jq?.[Symbol.asyncDispose]()
    await this.#expressions?.[Symbol.asyncDispose]()
  }
}
