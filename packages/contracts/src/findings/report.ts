import { Type, type Static } from 'typebox'
import { NullableTimestamp } from '../resources.ts'
import { Seen, Severity, Verdict } from './findings.ts'
import type { RunOutcome } from '../runs/run-outcome.ts'
import type { RunStatus } from '../runs/run-status.ts'
import { Count } from '../objects.ts'

const Some = Type.Optional(Count)
export const Severities = Type.Object(
  { critical: Some, high: Some, medium: Some, low: Some, info: Some },
  { description: 'By severity; one without findings is left out' },
)
export type SeverityCounts = Static<typeof Severities>

/** Findings that changed, by severity; a severity without findings is left out. */
export interface ChangeCounts {
  readonly new: SeverityCounts
  readonly back: SeverityCounts
  readonly gone: SeverityCounts
}

export type ChangeKind = keyof ChangeCounts | 'not_tested'

export const ChangedFinding = Type.Object(
  {
    id: Type.Integer(),
    severity: Severity,
    vuln_info: Type.String(),
    vuln_title: Type.String(),
    asset_value: Type.String(),
    workspace: Type.String(),
    seen: Seen,
    seen_reason: Type.String(),
    verdict: Verdict,
    back_at: NullableTimestamp,
  },
  { $id: 'ChangedFinding', description: 'Texts have at most 300 characters' },
)
export type ChangedFinding = Static<typeof ChangedFinding>

/** The findings that a job changed, the most severe first. The lists may be shortened, the counts are not. */
export interface JobChanges {
  readonly counts: Readonly<Record<ChangeKind, SeverityCounts>>
  readonly findings: Readonly<Record<ChangeKind, ChangedFinding[]>>
}

/** A run that has ended and did not do all of its work. */
export interface UncleanRun {
  readonly target: string
  readonly status: RunStatus
  readonly outcome: string
  readonly reason: string
}

/** Open findings of one check. */
export interface Issue {
  readonly severity: Severity
  readonly title: string
  readonly places: readonly string[]
  readonly place_count: number
  readonly first_seen: string
  /** The description and the scanner's record of one of them, which stands for all. */
  readonly vuln_desc: string
  readonly raw_vuln_json: string
}

/** How long the open findings of a severity have been known. */
export interface Ages {
  readonly severity: Severity
  readonly week: number
  readonly month: number
  readonly quarter: number
  readonly older: number
  readonly oldest: string
}

/** What a report says about a job, or about its part in one workspace. The lists may be shortened, the counts are not. */
export interface ReportFacts {
  readonly job_id: string
  readonly workflow_name: string
  readonly created_at: string
  /** Null: it has not ended. */
  readonly ended_at: string | null
  readonly outcome: RunOutcome | null
  readonly workspaces: readonly string[]
  readonly workspace_count: number
  readonly targets: readonly string[]
  readonly run_count: number
  readonly clean_count: number
  /** Runs that have not ended. */
  readonly open_count: number
  readonly unclean: readonly UncleanRun[]
  readonly ages: readonly Ages[]
  /** The most severe first. */
  readonly issues: readonly Issue[]
  readonly issue_count: number
  readonly false_positive: number
  readonly accepted: number
  readonly changes: JobChanges
}

const NONE: JobChanges = {
  counts: { new: {}, back: {}, gone: {}, not_tested: {} },
  findings: { new: [], back: [], gone: [], not_tested: [] },
}

/** What is reported where no farm is: in tests of workflows. */
export const NOTHING_REPORTED: ReportFacts = {
  job_id: '',
  workflow_name: '',
  created_at: new Date(0).toISOString(),
  ended_at: null,
  outcome: null,
  workspaces: [],
  workspace_count: 0,
  targets: [],
  run_count: 1,
  clean_count: 0,
  open_count: 1,
  unclean: [],
  ages: [],
  issues: [],
  issue_count: 0,
  false_positive: 0,
  accepted: 0,
  changes: NONE,
}
