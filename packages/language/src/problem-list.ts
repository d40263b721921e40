import type { Problem, Severity } from './problem.ts'

/** A hint, or a function that computes it if that is slow. */
export type Hint = string | (() => string)

const SEVERITIES: readonly Severity[] = ['error', 'warning', 'info']

/** Maximum number of computed hints for one file. */
const MAX_MADE_HINTS = 50

/** The first `limit` problems of one file and the number of further ones. */
export class ProblemList {
  readonly problems: Problem[] = []
  readonly #limit: number
  readonly #dropped: Record<Severity, number> = { error: 0, warning: 0, info: 0 }
  #made = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Does not call `make` beyond the limit. */
  add(severity: Severity, hint: Hint, make: () => Omit<Problem, 'severity' | 'hint'>): void {
    if (this.problems.length < this.#limit)
      this.problems.push({ ...make(), severity, hint: this.#text(hint) })
    else this.#dropped[severity] += 1
  }

  #text(hint: Hint): string {
    if (typeof hint === 'string') return hint
    return this.#made++ < MAX_MADE_HINTS ? hint() : ''
  }

  /** A problem that gives the number of problems beyond the limit, with the highest of their severities. */
  rest(file: string): Problem[] {
    const more = SEVERITIES.reduce((sum, severity) => sum + this.#dropped[severity], 0)
    const severity = SEVERITIES.find((word) => this.#dropped[word] > 0)
    if (severity === undefined) return []
    const message = `and ${more} more ${more === 1 ? 'problem' : 'problems'}`
    return [{ file, line: 0, column: 0, rule: 'more-problems', severity, message, hint: '' }]
  }
}
