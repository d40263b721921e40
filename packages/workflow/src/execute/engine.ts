import { ExpressionEngine, type EngineOptions } from '../expression/engine.ts'
import { JqEngine } from '../expression/jq.ts'
import { EXPRESSION_LIMITS } from '../expression/messages.ts'
import { prepareProgram, type Program } from '../expression/source.ts'
import { parseTemplate, type Template } from '../template/parse.ts'

/** Templates and programs that are kept ready; the oldest go first. */
const MAX_KEPT = 10_000

/** Remembers what was made of a text; errors are not remembered. */
const remembering = <Made>(make: (text: string) => Made): ((text: string) => Made) => {
  const kept = new Map<string, Made>()
  return (text) => {
    const known = kept.get(text)
    if (known !== undefined) return known
    const made = make(text)
    if (kept.size >= MAX_KEPT) {
      const [oldest] = kept.keys()
      if (oldest !== undefined) kept.delete(oldest)
    }
    kept.set(text, made)
    return made
  }
}

/** What all runs of a process share: parsed templates and programs, and the threads that run expressions. */
export class Engine implements AsyncDisposable {
  readonly template: (text: string) => Template = remembering(parseTemplate)
  readonly program: (text: string) => Program = remembering(prepareProgram)
  readonly #options: EngineOptions
  #expressions: ExpressionEngine | undefined
  #jq: JqEngine | undefined

  constructor(options: EngineOptions = {}) {
    this.#options = options
  }

  /** Made with the first expression that needs it. */
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
