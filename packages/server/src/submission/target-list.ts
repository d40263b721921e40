import { AppError, targetProblem, type FieldError } from '@scanfarm/contracts'

const MAX_PROBLEMS = 50

/** Collects targets: trims, drops blank lines, comments and repetitions, and notes what is wrong with which. */
export class TargetList {
  readonly #seen = new Set<string>()
  readonly #problems: FieldError[] = []
  readonly #maxTargets: number
  #dropped = 0

  constructor(maxTargets: number) {
    this.#maxTargets = maxTargets
  }

  /** `place` says where it stood, for the caller: a JSON pointer, and what to put before the message. */
  add(line: string, place: () => { path: string; prefix: string }): void {
    const target = line.trim()
    if (target === '' || target.startsWith('#')) return
    if (this.#seen.has(target)) {
      this.#dropped += 1
      return
    }
    const problem = targetProblem(target)
    if (problem !== undefined) this.#note(problem, place())
    else if (this.#seen.size >= this.#maxTargets) throw tooMany(this.#maxTargets)
    else this.#seen.add(target)
  }

  /** The list is refused for certain and more of it need not be read. */
  get hopeless(): boolean {
    return this.#problems.length >= MAX_PROBLEMS
  }

  /** Targets in their order; refuses a list with problems, and an empty one. */
  finish(field: string): { targets: string[]; dropped: number } {
    const [first] = this.#problems
    if (first !== undefined) {
      const more = this.#problems.length > 1 ? ` (and ${this.#problems.length - 1} more)` : ''
      throw new AppError('invalid_target', `${field}: ${first.message}${more}`, { details: this.#problems })
    }
    if (this.#seen.size === 0)
      throw new AppError('invalid_target', `${field}: no target was given`, {
        details: [{ path: `/${field}`, message: 'holds no target' }],
      })
    return { targets: [...this.#seen], dropped: this.#dropped }
  }

  #note(problem: string, { path, prefix }: { path: string; prefix: string }): void {
    if (!this.hopeless) this.#problems.push({ path, message: prefix + problem })
  }
}

const tooMany = (most: number): AppError =>
  new AppError('invalid_target', `one request takes at most ${most} targets; send several`, {
    details: [{ path: '', message: `more than ${most} targets` }],
  })
