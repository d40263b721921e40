import type { Variables, Value } from '@scanfarm/language'

/** Variables of one scope and of its parents. */
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

  /** Variables that were set in this scope itself. */
  own(): ReadonlyMap<string, Value> {
    return this.#own
  }
}
