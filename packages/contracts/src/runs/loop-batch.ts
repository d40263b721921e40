import type { RunStatus } from './run-status.ts'

/** A batch of items of a loop: the run that executes it. */
export interface LoopBatch {
  readonly runUuid: string
  readonly attempt: number
  readonly status: RunStatus
  readonly error: string
  /** Numbers of its items, which begin at 0. */
  readonly first: number
  readonly last: number
}

/** What a batch has done when its worker stops. */
export interface PartOfBatch extends Pick<LoopBatch, 'first' | 'last'> {
  /** Items that further batches get: first and last number of ranges. */
  readonly rest: readonly (readonly [first: number, last: number])[]
}

/** A loop whose items other workers execute. */
export interface LoopInBatches {
  readonly key: string
  /** Id of its step in this attempt. */
  readonly step: string
  readonly state: string
  readonly count: number
  /** Items of a batch. Missing: many at first, few at the end. */
  readonly size?: number | undefined
  /** Most batches at once. Missing: any number. */
  readonly workers?: number | undefined
}
