import { createHash } from 'node:crypto'

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest()

/** The text of a line, however it is indented, as a short word that does not show it. */
export const textWord = (text: string): string =>
  sha256(text.trim().replaceAll(/\s+/g, ' ')).toString('hex').slice(0, 16)

/** For `lasting`: nothing if there is no text. */
export const textWords = (text: string): string[] => (text.trim() === '' ? [] : [textWord(text)])

/** What a tool says of one result. */
export interface Told {
  /** The check and the file or other place. */
  readonly check: string
  readonly file: string
  /** What stays the same when the file changes elsewhere: a commit, the text of the line, a logical place. */
  readonly lasting: readonly string[]
  /** Where exactly it is, and what the tool says there: tells results apart that are the same otherwise. */
  readonly line: string
  readonly column: string
  readonly rest: string
}

/** 48 bits are enough: if two results share a number, one gets a higher count. */
const numberOf = (...parts: string[]): number => sha256(JSON.stringify(parts)).readUIntBE(0, 6) || 1

const FIRST_SLOTS = 1024
const MAX_LOAD = 0.7

/** Counts by numbers of `numberOf`. A `Map` of them needs five times the memory, which reports of 500 MiB do not leave. */
class Counts {
  /** Slots with the number, or 0, and its count; a taken slot is followed by the next one. */
  #numbers = new Float64Array(FIRST_SLOTS)
  #counts = new Uint32Array(FIRST_SLOTS)
  #size = 0

  get(number: number): number {
    return this.#counts[this.#slotOf(number)] ?? 0
  }

  set(number: number, count: number): void {
    const slot = this.#slotOf(number)
    if (this.#numbers[slot] === 0) this.#size += 1
    this.#numbers[slot] = number
    this.#counts[slot] = count
    if (this.#size > this.#numbers.length * MAX_LOAD) this.#grow()
  }

  #slotOf(number: number): number {
    const numbers = this.#numbers
    let slot = number % numbers.length
    while (numbers[slot] !== 0 && numbers[slot] !== number) slot = (slot + 1) % numbers.length
    return slot
  }

  #grow(): void {
    const [numbers, counts] = [this.#numbers, this.#counts]
    this.#numbers = new Float64Array(numbers.length * 2)
    this.#counts = new Uint32Array(numbers.length * 2)
    for (const [at, number] of numbers.entries()) {
      if (number === 0) continue
      const slot = this.#slotOf(number)
      this.#numbers[slot] = number
      this.#counts[slot] = counts[at] ?? 0
    }
  }
}

/**
 * Gives the results of a report their fingerprints: what lasts, and the how many-th of its kind it is. A result without
 * anything that lasts is at its line and column; one that only has a line needs no fingerprint. Equal results get the
 * same one.
 */
export class Fingerprints {
  readonly #kinds = new Counts()
  readonly #results = new Counts()

  of({ check, file, lasting, line, column, rest }: Told): string {
    const words =
      lasting.length > 0
        ? lasting
        : column === ''
          ? []
          : [`${line === '' ? '' : `line ${line} `}column ${column}`]
    const at = lasting.length > 0 ? '' : line
    const nth = this.#nth(
      numberOf(check, file, at, ...words),
      numberOf(check, file, ...words, line, column, rest),
    )
    if (nth === 1) return words.join(' ')
    return [...(words.length > 0 || line === '' ? words : [`line ${line}`]), `#${nth}`].join(' ')
  }

  #nth(kind: number, result: number): number {
    const known = this.#results.get(result)
    if (known > 0) return known
    const nth = this.#kinds.get(kind) + 1
    this.#kinds.set(kind, nth)
    this.#results.set(result, nth)
    return nth
  }
}
