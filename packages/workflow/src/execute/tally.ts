import { NO_WORK, OUTCOME_REASON_CHARS, OUTCOME_REASONS, type RunTally } from '@scanfarm/contracts'
import { LOG_FUNCTIONS } from '../functions/log.ts'
import { FUNCTIONS } from '../functions/registry.ts'
import type { Step } from '../model.ts'
import type { StepOutcome } from './step-end.ts'

/** Records what became of a step in the list of a module and of the steps inside of it. */
export interface StepTrace {
  worked(): void
  failed(error: string): void
}

/** Records the steps inside of a step that may be retried: only its last attempt counts. */
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

const LOGGING: ReadonlySet<string> = new Set(LOG_FUNCTIONS.functions.map(({ name }) => name))
const CONTAINERS: ReadonlySet<string> = new Set(['foreach', 'parallel-steps'])

const calledFunctions = (source: string): string[] =>
  [...source.matchAll(/(?<![\w.])([A-Za-z_]\w*)\s*\(/g)].flatMap(([, name = '']) =>
    FUNCTIONS.has(name) ? [name] : [],
  )

/**
 * Whether a step does anything by itself. A loop and a parallel step work by the steps inside of them; functions that
 * only write messages, and a step without a command, do nothing. `command`: as rendered.
 */
export const isWork = ({ type }: Pick<Step, 'type'>, command: string): boolean => {
  if (CONTAINERS.has(type) || command === '') return false
  if (type !== 'function') return true
  const calls = calledFunctions(command)
  return calls.length === 0 || calls.some((name) => !LOGGING.has(name))
}

const ofModule = (module: string): string => (module === '' ? '' : ` of module ${module}`)

/** Counts what worked, failed and was left out in the modules of a run. Hooks are not counted. */
export class Tally {
  readonly #report: (tally: RunTally) => void
  readonly #recordable: (text: string, max: number) => string
  #now: RunTally = NO_WORK

  /** `report` gets every new state; `recordable` masks and bounds a reason. */
  constructor(report: (tally: RunTally) => void, recordable: (text: string, max: number) => string) {
    this.#report = report
    this.#recordable = recordable
  }

  get now(): RunTally {
    return this.#now
  }

  /** Runs a step of a module's list and counts what became of it. */
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

  /** A failure that belongs to no step counts as one failed step. */
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
        ? // Masked before anything is taken out of it: a secret may have blanks and line breaks.
          [this.#recordable(reason, OUTCOME_REASON_CHARS).replaceAll(/\s+/g, ' ').trim()]
        : []
    this.#now = { ...this.#now, ...change, reasons: [...reasons, ...more] }
    this.#report(this.#now)
  }
}
