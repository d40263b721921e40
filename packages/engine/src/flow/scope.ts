import type { Variables, Value } from '@scanfarm/language'

/** Variables of one scope and of its parents. */
export class Scope implements Variables {
  readonly #own = new Map<string, Value>()
  readonly #outer: Variables | undefined
  /** Names that were set since `trackChanges` or `takeChanges`. */
  #changed: Set<string> | undefined

  constructor(outer?: Variables) {
    this.#outer = outer
  }

  get(name: string): Value | undefined {
    return this.#own.get(name) ?? this.#outer?.get(name)
  }

  set(name: string, value: Value): void {
    this.#own.set(name, value)
    this.#changed?.add(name)
  }

  setAll(values: Iterable<readonly [string, Value]>): void {
    for (const [name, value] of values) this.set(name, value)
  }

  trackChanges(): void {
    this.#changed ??= new Set()
  }

  /** The variables that were set since the last call. */
  takeChanges(): [string, Value][] {
    const names = [...(this.#changed ?? [])]
    this.#changed = new Set()
    return names.flatMap((name): [string, Value][] => {
      const value = this.#own.get(name)
      return value === undefined ? [] : [[name, value]]
    })
  }

  /** Variables that were set in this scope and in those around it. */
  all(): Map<string, Value> {
    const all = this.#outer instanceof Scope ? this.#outer.all() : new Map<string, Value>()
    for (const [name, value] of this.#own) all.set(name, value)
    return all
  }
}

/** The scope of a branch: variables of another one, with the rate of the branch. */
export class BranchScope extends Scope {
  readonly #of: Scope
  readonly #rate: Value

  constructor(of: Scope, rate: Value) {
    super()
    this.#of = of
    this.#rate = rate
  }

  override get(name: string): Value | undefined {
    return name === 'Rate' ? this.#rate : this.#of.get(name)
  }

  override set(name: string, value: Value): void {
    this.#of.set(name, value)
  }

  override trackChanges(): void {
    this.#of.trackChanges()
  }

  override takeChanges(): [string, Value][] {
    return this.#of.takeChanges()
  }

  override all(): Map<string, Value> {
    return this.#of.all().set('Rate', this.#rate)
  }
}
