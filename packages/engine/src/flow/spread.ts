import type { RunnerSpec } from '@scanfarm/contracts'
import type { Step } from '@scanfarm/language'
import type { KeptItems, KeptState, KeptValue } from './kept-unit.ts'

/** What the batches of a loop need of its run. A JSON value. */
export interface LoopState {
  readonly key: string
  readonly step: Step
  /** Name of the module in the flow, or `""`. */
  readonly module: string
  readonly runner: RunnerSpec
  readonly variables: readonly (readonly [name: string, value: KeptValue])[]
  readonly env: Readonly<Record<string, string>>
  /** The common ports of all attempts of the run. */
  readonly now: number
  readonly random: readonly number[]
}

/** What a batch tells its run. A JSON value. */
export interface BatchAnswer extends KeptState, Pick<KeptItems, 'counts' | 'outputs' | 'worked' | 'error'> {
  /** An item skipped the module. */
  readonly skip?: string | undefined
}

export interface SpreadLoop {
  readonly state: LoopState
  items(): AsyncIterable<string>
  /** Called before the files of the run are read for the batches. */
  begin(): Promise<void>
  /** Items of a batch; missing: many at first, few at the end. */
  readonly size?: number | undefined
  /** Most batches at once; missing: any number. */
  readonly workers?: number | undefined
  /** Failed items that are recorded as steps. */
  readonly mostRows: number
  readonly signal: AbortSignal
  nextSeq(): number
  /** Called for each batch when all have ended, in the order of their items. */
  answered(answer: BatchAnswer): Promise<void>
}

/** Lets other workers execute items of loops. */
export interface SpreadService {
  /**
   * Resolves when all batches have ended and their files are in the folders of the run, to `''` or why a batch has
   * failed. Undefined: the items have to be executed here.
   */
  run(loop: SpreadLoop): Promise<string | undefined>
}

/** The part of a loop that a run executes for another one. */
export interface BatchWork {
  readonly state: LoopState
  /** Aborted when no further item may begin. */
  readonly enough: AbortSignal
  items(): AsyncIterable<{ readonly item: string; readonly index: number }>
  /** `begun`: the number after those of the items that have begun; `open`: those of them that have not ended. */
  answer(answer: BatchAnswer, begun: number, open: readonly number[]): void
}
