import { partOf } from '../step/side-by-side.ts'
import { Turns } from './turns.ts'

/** A step of a graph, or a module of a flow. */
interface Unit {
  readonly name: string
  readonly depends_on?: readonly string[] | undefined
}

/** Of more units, each counts as beside all others. */
const MOST_COMPARED = 300

/** Of each unit all that end before it begins, the first ones first. Units of a circle are missing. */
const before = <T extends Unit>(units: readonly T[]): Map<T, ReadonlySet<T>> => {
  /** The last unit of a name wins. */
  const named = new Map(units.map((unit) => [unit.name, unit]))
  const found = new Map<T, ReadonlySet<T>>()
  for (let left = units, isNew = true; isNew;) {
    isNew = false
    for (const unit of left) {
      const needs = (unit.depends_on ?? []).flatMap((name) => named.get(name) ?? [])
      if (!needs.every((one) => found.has(one))) continue
      found.set(unit, new Set(needs.flatMap((one) => [one, ...(found.get(one) ?? [])])))
      isNew = true
    }
    left = left.filter((unit) => !found.has(unit))
  }
  return found
}

/**
 * Divides a rate among the units that may work at the same time, so that each of them may start and wait for the others.
 * `most`: so many work at once.
 */
export class Branches<T extends Unit> {
  readonly #most: number
  readonly #turns: Turns
  readonly #before: ReadonlyMap<T, ReadonlySet<T>>
  readonly #left: Set<T>

  /** Undefined: there is no rate, or all units work one after the other. */
  static of<T extends Unit>(
    units: readonly T[],
    most: number,
    turns: Turns | undefined,
  ): Branches<T> | undefined {
    if (turns === undefined) return undefined
    const branches = new Branches(units, most, turns)
    return units.some((unit) => branches.#width(unit) > 1) ? branches : undefined
  }

  private constructor(units: readonly T[], most: number, turns: Turns) {
    this.#most = most
    this.#turns = turns
    this.#left = new Set(units)
    this.#before = units.length > MOST_COMPARED ? new Map() : before(units)
  }

  /** Its part is what it has until its end, since all that will work beside it count now. */
  begin(unit: T): Turns {
    return new Turns(partOf(this.#turns.rate, Math.min(this.#width(unit), this.#most)))
  }

  end(unit: T): void {
    this.#left.delete(unit)
  }

  /** Does the work of all units while nothing else uses the rate. */
  async during<R>(signal: AbortSignal, work: () => Promise<R>): Promise<R> {
    return await this.#turns.take(signal, work)
  }

  /** How many may work at the same time as the unit, itself included. */
  #width(unit: T): number {
    if (this.#before.size === 0) return this.#left.size
    const precedes = (a: T, b: T): boolean => this.#before.get(b)?.has(a) === true
    // Of a chain, in which each precedes the next one, one works at a time.
    const chains: T[][] = []
    for (const one of this.#before.keys()) {
      if (!this.#left.has(one)) continue
      const chain = chains.find((found) => found.slice(-1).some((last) => precedes(last, one)))
      if (chain === undefined) chains.push([one])
      else chain.push(one)
    }
    const isBeside = (one: T): boolean => !precedes(one, unit) && !precedes(unit, one)
    return chains.filter((chain) => chain.some(isBeside)).length
  }
}
