import type { Value } from '../template/value.ts'

/** What became of a step's own work, before its row is closed. */
export type StepEnd =
  | {
      readonly kind: 'done'
      readonly stdout: string
      /** stdout and stderr together. */
      readonly output: string
      readonly exitCode?: number
      /** Variables that the type of the step sets by itself. */
      readonly exports?: Readonly<Record<string, Value>>
    }
  | {
      readonly kind: 'failed'
      readonly error: string
      readonly exitCode?: number
      readonly stdout?: string
      readonly output?: string
    }
  | { readonly kind: 'cancelled' }
  /** `skip()`: the module ends here. */
  | { readonly kind: 'skip-module'; readonly message: string }

export type BadEnd = Exclude<StepEnd, { kind: 'done' }>

/** What became of a step as a whole, when its row is closed and all that follows from it is done. */
export type StepOutcome =
  | {
      readonly kind: 'completed'
      readonly output: string
      readonly exports: ReadonlyMap<string, Value>
      readonly goto?: string | undefined
    }
  /** `goesOn`: the step itself says that its failure ends nothing. */
  | { readonly kind: 'failed'; readonly error: string; readonly goesOn: boolean; readonly output: string }
  | { readonly kind: 'skipped' }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'skip-module'; readonly message: string }

export const failed = (error: string): BadEnd & { kind: 'failed' } => ({ kind: 'failed', error })
