import type { ArtifactFound, ClaimedRun } from '@scanfarm/contracts'
import type { BatchAnswer, LoopState } from '@scanfarm/engine'
import type { KeptEntry, KeptRow } from '../resume/entries.ts'
import type { Folders } from '../workspaces/moved.ts'

/** What a run stores for the batches of a loop, as JSON. */
export interface StoredLoop {
  readonly state: LoopState
  readonly run: Pick<ClaimedRun, 'runId' | 'runUuid' | 'attempt' | 'jobId'>
  /** Texts of the state and of files name them. */
  readonly folders: Folders
  /** By path. */
  readonly files: Readonly<Record<string, KeptEntry>>
  readonly items: string
  /** Where every `ITEMS_A_MARK`th item begins, and the end. */
  readonly marks: readonly number[]
}

/** `isRest`: the bytes after those that the file had when the loop began. */
export type Change = (KeptEntry & { readonly isRest?: boolean }) | null

/** What a batch stores for its run, as JSON. */
export interface StoredAnswer {
  readonly answer: BatchAnswer
  readonly folders: Folders
  readonly rows: readonly KeptRow[]
  readonly artifacts: readonly ArtifactFound[]
  /** Changed files by path; null: it was removed. */
  readonly files: Readonly<Record<string, Change>>
}

export const ITEMS_A_MARK = 1_024

export const answerKey = (loop: string, first: number, attempt: number): string =>
  loop.replace(/\.json$/, `/${first}-${attempt}.json`)
