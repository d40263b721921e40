import {
  AppError,
  LISTED_REFUSALS,
  targetProblem,
  withoutPassword,
  type FieldError,
} from '@scanfarm/contracts'
import type { Refused } from '@scanfarm/store'
import { SeenHashes } from './seen-hashes.ts'

const MAX_PROBLEMS = 50
/** The target on a line; undefined for blank lines and comments. */
export const targetOf = (line: string): string | undefined => {
  const target = line.trim()
  return target === '' || target.startsWith('#') ? undefined : target
}

export interface ListLimits {
  readonly maxTargets: number
  /** Longer lists are not kept in memory, only hashes of their targets. */
  readonly maxInMemory: number
  /** Invalid targets are left out instead of refused. */
  readonly skipBad?: boolean
  /** The reason why a valid target may not be scanned. */
  readonly refusal?: ((target: string) => string | undefined) | undefined
}

export interface ListedTargets {
  readonly count: number
  /** Number of duplicates that were dropped. */
  readonly dropped: number
  /** Distinct targets in order; undefined if they are too many to keep. */
  readonly targets: readonly string[] | undefined
  /** Invalid targets that were left out, and the problems of the first of them. */
  readonly skipped?: { readonly count: number; readonly problems: readonly FieldError[] }
  /** Targets that may not be scanned; there may be no others. */
  readonly refused?: Pick<Refused, 'count' | 'listed'>
}

/** Collects targets: trims them, drops blank lines, comments and duplicates, and records problems. */
export class TargetList {
  readonly #problems: FieldError[] = []
  readonly #limits: ListLimits
  #inMemory: Set<string> | undefined = new Set()
  #seen: SeenHashes | undefined
  #count = 0
  #dropped = 0
  #bad = 0
  readonly #refused = new Map<string, string>()
  #refusedCount = 0

  constructor(limits: ListLimits) {
    this.#limits = limits
  }

  /** `place` locates the line for the caller: a JSON pointer and a prefix for the message. */
  add(line: string, place: () => { path: string; prefix: string }): void {
    const target = targetOf(line)
    if (target === undefined) return
    const problem = targetProblem(target)
    if (problem !== undefined) return this.#note(problem, place())
    const refusal = this.#limits.refusal?.(target)
    if (refusal !== undefined) return this.#refuse(target, refusal)
    if (!this.#isNew(target)) {
      this.#dropped += 1
      return
    }
    this.#count += 1
    if (this.#count > this.#limits.maxTargets) throw tooMany(this.#limits.maxTargets)
  }

  /** The list will be refused, so the rest need not be read. */
  get isRefused(): boolean {
    return this.#limits.skipBad !== true && this.#problems.length >= MAX_PROBLEMS
  }

  /** Refuses a list with problems and an empty list. */
  finish(field: string): ListedTargets {
    const [first] = this.#problems
    const skips = this.#limits.skipBad === true
    if (first !== undefined && (!skips || this.#count === 0)) {
      const more = this.#problems.length > 1 ? ` (and ${this.#problems.length - 1} more)` : ''
      throw new AppError('invalid_target', `${field}: ${first.message}${more}`, { details: this.#problems })
    }
    if (this.#count === 0 && this.#refusedCount === 0)
      throw new AppError('invalid_target', `${field}: no target was given`, {
        details: [{ path: `/${field}`, message: 'contains no target' }],
      })
    return {
      count: this.#count,
      dropped: this.#dropped,
      targets: this.#inMemory && [...this.#inMemory],
      ...(this.#refusedCount === 0
        ? {}
        : {
            refused: {
              count: this.#refusedCount,
              listed: [...this.#refused].map(([target, reason]) => ({
                target: withoutPassword(target),
                reason,
              })),
            },
          }),
      ...(this.#bad === 0 ? {} : { skipped: { count: this.#bad, problems: this.#problems } }),
    }
  }

  #isNew(target: string): boolean {
    if (this.#seen !== undefined) return this.#seen.add(target)
    const inMemory = this.#inMemory ?? new Set()
    if (inMemory.has(target)) return false
    inMemory.add(target)
    if (inMemory.size > this.#limits.maxInMemory) {
      this.#seen = new SeenHashes()
      for (const one of inMemory) this.#seen.add(one)
      this.#inMemory = undefined
    }
    return true
  }

  /** Duplicates beyond those that are listed count. */
  #refuse(target: string, reason: string): void {
    if (this.#refused.has(target)) {
      this.#dropped += 1
      return
    }
    this.#refusedCount += 1
    if (this.#refused.size < LISTED_REFUSALS) this.#refused.set(target, reason)
  }

  #note(problem: string, { path, prefix }: { path: string; prefix: string }): void {
    this.#bad += 1
    if (this.#problems.length < MAX_PROBLEMS) this.#problems.push({ path, message: prefix + problem })
  }
}

const tooMany = (most: number): AppError =>
  new AppError('invalid_target', `a request has at most ${most} targets: send several requests`, {
    details: [{ path: '', message: `contains more than ${most} targets` }],
  })
