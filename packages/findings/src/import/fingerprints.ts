import { createHash } from 'node:crypto'

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest()

/** The text of a line, however it is indented, as a short word that does not show it. */
export const textWord = (text: string): string =>
  sha256(text.trim().replaceAll(/\s+/g, ' ')).toString('hex').slice(0, 16)

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
const numberOf = (...parts: string[]): number => sha256(JSON.stringify(parts)).readUIntBE(0, 6)

/**
 * Gives the results of a report their fingerprints: what lasts, and the how many-th of its kind it is. A result without
 * anything that lasts is at its line and column; one that only has a line needs no fingerprint. Equal results get the
 * same one.
 */
export class Fingerprints {
  readonly #kinds = new Map<number, number>()
  readonly #results = new Map<number, number>()

  of({ check, file, lasting, line, column, rest }: Told): string {
    const words = lasting.length > 0 ? lasting : column === '' ? [] : [`line ${line} column ${column}`]
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
    if (known !== undefined) return known
    const nth = (this.#kinds.get(kind) ?? 0) + 1
    this.#kinds.set(kind, nth)
    this.#results.set(result, nth)
    return nth
  }
}
