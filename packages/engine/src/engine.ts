import { ExpressionEngine, type EngineOptions } from './expression/engine.ts'
import { JqEngine } from './expression/jq.ts'
import { EXPRESSION_LIMITS } from './expression/messages.ts'
import { prepareProgram, type Program, parseTemplate, type Template } from '@scanfarm/language'

/** Maximum number of cached templates, and of cached programs. The oldest entry is evicted first. */
const MAX_CACHED = 10_000

/** Caches the results of a parser by its text. Errors are not cached. */
const cached = <Made>(make: (text: string) => Made): ((text: string) => Made) => {
  const cache = new Map<string, Made>()
  return (text) => {
    const known = cache.get(text)
    if (known !== undefined) return known
    const made = make(text)
    if (cache.size >= MAX_CACHED) {
      const [oldest] = cache.keys()
      if (oldest !== undefined) cache.delete(oldest)
    }
    cache.set(text, made)
    return made
  }
}

/** State that all runs of a process share: parsed templates and programs, and the threads that evaluate expressions. */
export class Engine implements AsyncDisposable {
  readonly template: (text: string) => Template = cached(parseTemplate)
  readonly program: (text: string) => Program = cached(prepareProgram)
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
