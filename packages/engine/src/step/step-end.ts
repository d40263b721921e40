import type { Value } from '@scanfarm/language'

/** Result of a step's own work, before its row is closed. */
export type StepEnd =
  | {
      readonly kind: 'done'
      readonly stdout: string
      /** stdout and stderr combined. */
      readonly output: string
      readonly exitCode?: number
      /** It did its work, except for packets that were not sent. */
      readonly blocked?: string | undefined
      /** Variables that the step type sets itself. */
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
  /** `skip()` was called: the module ends. */
  | { readonly kind: 'skip-module'; readonly message: string }

export type BadEnd = Exclude<StepEnd, { kind: 'done' }>

/** Result of a step as a whole, after its row is closed and its actions have run. */
export type StepOutcome =
  | {
      readonly kind: 'completed'
      readonly output: string
      readonly exports: ReadonlyMap<string, Value>
      readonly goto?: string | undefined
    }
  /** `continues`: the step has `on_error: continue`. */
  | { readonly kind: 'failed'; readonly error: string; readonly continues: boolean; readonly output: string }
  | { readonly kind: 'skipped' }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'skip-module'; readonly message: string }

export const failed = (error: string): BadEnd & { kind: 'failed' } => ({ kind: 'failed', error })
