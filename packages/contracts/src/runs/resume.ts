import { Type, type Static } from 'typebox'
import { attemptPrefix } from './live-logs.ts'

export const Resume = Type.Enum(['steps', 'none'], {
  description:
    'Whether another attempt of a run continues after its last completed step, or begins at the start. Default: as the workflow says',
})
export type Resume = Static<typeof Resume>

/** What an attempt has stored for the next one. Written with (run, attempt) like every change of a run. */
export interface ResumePoint {
  readonly runUuid: string
  readonly attempt: number
  /** Number of entries, which have the keys 1, 2, 3… */
  readonly entries: number
  /** The first step that failed, which may not be in the entries. */
  readonly failed?: string | undefined
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
