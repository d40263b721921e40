import { attemptPrefix } from './live-logs.ts'

/** What an attempt has stored for the next one. Written with (run, attempt) like every change of a run. */
export interface ResumePoint {
  readonly runUuid: string
  readonly attempt: number
  /** Number of entries, which have the keys 1, 2, 3… */
  readonly entries: number
  /** What is executed again, in a retry: the first step that failed, or this step, and all after it. */
  readonly from?: 'failed' | { readonly step: string } | undefined
}

/** Where a step that this attempt did not execute was executed. */
export interface TakenFrom {
  readonly runUuid: string
  readonly attempt: number
}

/** Prefix of the keys of what an attempt stores for the next one. */
export const resumePrefix = ({ runUuid, attempt }: TakenFrom): string =>
  `${attemptPrefix(runUuid, attempt)}/resume`
