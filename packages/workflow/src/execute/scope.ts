import type { Variables } from '../template/evaluate.ts'
import type { Value } from '../template/value.ts'

/** Variables of one place, and behind them those of the place around it. */
export class Scope implements Variables {
  readonly #own = new Map<string, Value>()
  readonly #outer: Variables | undefined

  constructor(outer?: Variables) {
    this.#outer = outer
  }

  get(name: string): Value | undefined {
    return this.#own.get(name) ?? this.#outer?.get(name)
  }

  set(name: string, value: Value): void {
    this.#own.set(name, value)
  }

  setAll(values: Iterable<readonly [string, Value]>): void {
    for (const [name, value] of values) this.#own.set(name, value)
  }

  /** What was set here itself. */
  own(): ReadonlyMap<string, Value> {
    return this.#own
  }
}
