import { NO_WORK, OUTCOME_REASON_CHARS, OUTCOME_REASONS, type RunTally } from '@scanfarm/contracts'
import { LOG_FUNCTIONS, FUNCTIONS } from '@scanfarm/functions'
import type { Step } from '@scanfarm/language'
import type { StepOutcome } from '../step/step-end.ts'

/** Receives the results of a step of a module's list and of the steps inside it. */
export interface StepTrace {
  worked(): void
  failed(error: string): void
}

/** Collects the results of steps inside a step that may be retried: only the last attempt counts. */
export class InnerTrace implements StepTrace {
  readonly #outer: StepTrace | undefined
  #error: string | undefined

  constructor(outer: StepTrace | undefined) {
    this.#outer = outer
  }

  begin(): void {
    this.#error = undefined
  }

  worked(): void {
    this.#outer?.worked()
  }

  failed(error: string): void {
    this.#error ??= error
  }

  end(): void {
    if (this.#error !== undefined) this.#outer?.failed(this.#error)
  }
}

/** Passes results on and keeps what another attempt has to know of them. */
export class UnitTrace implements StepTrace {
  hasWorked = false
  error: string | undefined
  readonly #outer: StepTrace | undefined

  constructor(outer: StepTrace | undefined) {
    this.#outer = outer
  }

  worked(): void {
    this.hasWorked = true
    this.#outer?.worked()
  }

  failed(error: string): void {
    this.error ??= error
    this.#outer?.failed(error)
  }
}

const LOGGING: ReadonlySet<string> = new Set(LOG_FUNCTIONS.functions.map(({ name }) => name))
const CONTAINERS: ReadonlySet<string> = new Set(['foreach', 'parallel-steps'])

const calledFunctions = (source: string): string[] =>
  [...source.matchAll(/(?<![\w.])([A-Za-z_]\w*)\s*\(/g)].flatMap(([, name = '']) =>
    FUNCTIONS.has(name) ? [name] : [],
  )

/**
 * Whether a step does any work itself. Loops and parallel steps work through their inner steps; functions that only
 * log, and steps without a command, do no work. `command`: the rendered command.
 */
export const isWork = ({ type }: Pick<Step, 'type'>, command: string): boolean => {
  if (CONTAINERS.has(type) || command === '') return false
  if (type !== 'function') return true
  const calls = calledFunctions(command)
  return calls.length === 0 || calls.some((name) => !LOGGING.has(name))
}

const ofModule = (module: string): string => (module === '' ? '' : ` of module ${module}`)

/** Counts the steps and modules of a run that worked, failed or were left out. Hooks are not counted. */
export class Tally {
  readonly #report: (tally: RunTally) => void
  readonly #recordable: (text: string, max: number) => string
  #now: RunTally = NO_WORK

  /** `report` is called with every new state; `recordable` masks and bounds a reason. */
  constructor(report: (tally: RunTally) => void, recordable: (text: string, max: number) => string) {
    this.#report = report
    this.#recordable = recordable
  }

  get now(): RunTally {
    return this.#now
  }

  /** Runs a step of a module's list and counts its result. */
  async step(
    at: { readonly name: string; readonly module: string },
    run: (trace: StepTrace) => Promise<StepOutcome>,
  ): Promise<StepOutcome> {
    let error: string | undefined
    const outcome = await run({
      worked: () => {
        if (!this.#now.worked) this.#change({ worked: true })
      },
      failed: (reason) => (error ??= reason),
    })
    if (outcome.kind === 'failed') error = outcome.error
    if (error !== undefined) this.failed(`step ${at.name}${ofModule(at.module)}`, error)
    return outcome
  }

  /** Counts a failure that belongs to no step as one failed step. */
  failed(what: string, error: string): void {
    this.#change({ failedSteps: this.#now.failedSteps + 1 }, `${what} failed: ${error}`)
  }

  moduleLeftOut(name: string, why: string): void {
    this.#change({ leftOutModules: this.#now.leftOutModules + 1 }, `module ${name} left out: ${why}`)
  }

  stepsLeftOut(count: number, module: string, why: string): void {
    if (count === 0) return
    const steps = `${count} ${count === 1 ? 'step' : 'steps'}${ofModule(module)}`
    this.#change({ leftOutSteps: this.#now.leftOutSteps + count }, `${steps} left out: ${why}`)
  }

  #change(change: Partial<RunTally>, reason?: string): void {
    const { reasons } = this.#now
    const more =
      reason !== undefined && reasons.length < OUTCOME_REASONS
        ? // Masked first, because a secret may contain white space.
          [this.#recordable(reason, OUTCOME_REASON_CHARS).replaceAll(/\s+/g, ' ').trim()]
        : []
    this.#now = { ...this.#now, ...change, reasons: [...reasons, ...more] }
    this.#report(this.#now)
  }
}
