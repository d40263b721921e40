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

export const failed = (error: string): StepEnd => ({ kind: 'failed', error })
