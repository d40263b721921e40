import { partOf } from '../step/side-by-side.ts'
import { Turns } from './turns.ts'

/** A step of a graph, or a module of a flow. */
interface Unit {
  readonly name: string
  readonly depends_on?: readonly string[] | undefined
}

/** Of more units, each counts as beside all others. */
const MOST_COMPARED = 300

/** The last unit of a name wins. */
const namedUnits = <T extends Unit>(units: readonly T[]): ReadonlyMap<string, T> =>
  new Map(units.map((unit) => [unit.name, unit]))

/** Of each unit all that end before it begins, the first ones first. Units of a circle are missing. */
const before = <T extends Unit>(units: readonly T[]): Map<T, ReadonlySet<T>> => {
  const named = namedUnits(units)
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

interface Order<T> {
  /** So many work at once. */
  readonly most: number
  /** Where the rate of all units is limited. */
  readonly turns: Turns | undefined
  readonly signal: AbortSignal
  /** Those that divide the rate. */
  readonly sharing: readonly T[]
  /** No further unit begins. */
  stops(): boolean
}

/**
 * Does the work of units, each when those that it depends on have ended. Resolves when no further one can begin, to those
 * that have not begun.
 */
export const runUnits = async <T extends Unit>(
  units: readonly T[],
  { most, turns, signal, sharing, stops }: Order<T>,
  work: (unit: T, turns: Turns | undefined) => Promise<void>,
): Promise<ReadonlySet<T>> => {
  const branches = Branches.of(sharing, most, turns)
  const waiting = new Set(units)
  const runAll = async (): Promise<void> => {
    const named = namedUnits(units)
    const ended = new Set<T | undefined>()
    const running = new Set<Promise<void>>()
    for (;;) {
      for (const unit of waiting) {
        if (stops() || running.size >= most) break
        if (!(unit.depends_on ?? []).every((name) => ended.has(named.get(name)))) continue
        waiting.delete(unit)
        const task: Promise<void> = work(unit, branches?.begin(unit)).finally(() => {
          branches?.end(unit)
          ended.add(unit)
          running.delete(task)
        })
        running.add(task)
      }
      if (running.size === 0) break
      await Promise.race(running)
    }
  }
  if (branches === undefined) await runAll()
  else await branches.during(signal, runAll)
  return waiting
}
