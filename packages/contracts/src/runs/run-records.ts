import type { AssetContent, FindingContent } from '../findings/findings.ts'
import type { ArtifactType, ContentType } from '../enums.ts'
import type { PartOfBatch } from './loop-batch.ts'
import type { ResumePoint, TakenFrom } from './resume.ts'
import type { RunTally } from './run-outcome.ts'
import type { DestinationPlace, RunRefusalPlace } from '../scope/schemas.ts'
import type { RunStatus, StepStatus } from './run-status.ts'

/** A run with its attempt. Writes of any other attempt are refused. */
export interface RunKey {
  readonly runId: number
  readonly attempt: number
}

/** A change of a step, in chronological order. Rows are upserted by (run, attempt, seq). */
export interface StepRecord {
  readonly seq: number
  readonly id: string
  readonly name: string
  readonly type: string
  readonly module: string
  readonly status: StepStatus
  readonly command: string
  /** End of the output, valid UTF-8 without NUL, at most 16 KiB. */
  readonly output: string
  readonly errorMessage: string
  readonly exports: Readonly<Record<string, string>>
  readonly exitCode: number | null
  readonly durationMs: number
  /** Key of the complete log in the artifact store, or `""`. */
  readonly logFile: string
  readonly startedAt: string | null
  readonly completedAt: string | null
  /** The attempt that executed the step, if it was an earlier one. */
  readonly takenFrom?: TakenFrom
}

export interface ArtifactRecord {
  readonly id: string
  readonly name: string
  readonly path: string
  readonly type: ArtifactType
  readonly contentType: ContentType
  readonly sizeBytes: number
  readonly lineCount: number
  readonly description: string
  /** Key in the artifact store. */
  readonly storeKey: string
  readonly sha256: string
}

export interface EventRecord {
  /** Deterministic within (run, attempt), so that a batch that is written twice creates one event. */
  readonly eventId: string
  readonly topic: string
  readonly name: string
  readonly source: string
  readonly dataType: string
  readonly data: string
}

/** All changes of one run since the last batch. Missing fields are unchanged. */
export interface RunUpdate extends RunKey {
  readonly totalSteps?: number
  readonly completedSteps?: number
  readonly currentPid?: number
  readonly tally?: RunTally
  readonly facts?: Readonly<Record<string, string>>
  readonly resume?: ResumePoint
  readonly steps?: readonly StepRecord[]
  readonly artifacts?: readonly ArtifactRecord[]
  readonly events?: readonly EventRecord[]
  readonly refusals?: readonly RefusalRecord[]
  readonly destinations?: readonly DestinationRecord[]
}

/** A host that the run may have sent traffic to. The same one twice is one. */
export interface DestinationRecord {
  readonly host: string
  readonly place: DestinationPlace
}

/** A target that was not scanned. `seq` counts within the attempt, so that a batch that is written twice adds one. */
export interface RefusalRecord {
  readonly seq: number
  readonly target: string
  readonly reason: string
  readonly place: RunRefusalPlace
}

export interface RunEnd extends RunKey {
  readonly status: Extract<RunStatus, 'completed' | 'failed' | 'cancelled'>
  readonly errorMessage: string
  /** Pids that were killed on cancel or timeout. */
  readonly killedPids: readonly number[]
  /** Of a batch that has not executed all of its items. */
  readonly part?: PartOfBatch | undefined
}

/** A part of an import that saves its records in several calls. */
export interface ImportPart {
  /** The UUID of the import. */
  readonly of: string
  /** Later parts have higher numbers. */
  readonly no: number
}

/** What a scan did not test, and why. */
export interface NotTested {
  /** A host, `host:port`, `host:port/udp` or a URL, which means its port. */
  readonly place: string
  /** Only this check, by `vuln_info` or a tag of its findings. Missing: all checks. */
  readonly check?: string
  readonly reason: string
  /** Nothing came back from it: its findings are unreachable. */
  readonly silent?: boolean
  /** Only these ports of the host, as a multirange of Postgres: `{[80,80],[1000,2000]}`. `place` may end with /udp. */
  readonly ports?: string
}

/** The records that one step of a run found, for a workspace. */
export interface FoundRecords {
  /** Name of the step, with its module in a flow. A later run of the same step can mark records as gone. */
  readonly step: string
  readonly workspace: string
  /** Source of the records: name of a tool, or `workflow`. */
  readonly source: string
  readonly records:
    | { readonly kind: 'vulnerability'; readonly items: readonly FindingContent[] }
    | { readonly kind: 'asset'; readonly items: readonly AssetContent[] }
  /** Number of unusable records. If there are any, the step marks nothing as gone. */
  readonly errors: number
  /**
   * Hosts that the step reached, also as URLs or host:port. Only records of these hosts, and of hosts on which the step
   * found something, can be marked as gone. Missing: all hosts were reached.
   */
  readonly reached?: readonly string[] | undefined
  /** Hosts and files that the scan could not examine: their records are not marked as gone. */
  readonly failed?:
    | {
        readonly hosts: readonly string[]
        readonly files: readonly string[]
        readonly places?: readonly NotTested[]
      }
    | undefined
  /** Whether `failed` names all that the module did not test, so that its failed steps mean nothing else. */
  readonly namesUntested?: boolean | undefined
  /** Equal results of one import become one record, also those of different parts. */
  readonly part?: ImportPart | undefined
  /** Params that define what is scanned: later runs with the same are compared. Missing: all of the job. */
  readonly scope?: Readonly<Record<string, string>> | undefined
}

/** Selects the records that a run reads. */
export interface RecordQuery {
  readonly kind: 'vulnerability' | 'asset'
  readonly workspace: string
  /** Assets: asset_type, status_code; findings: severity (a list), asset_value (a part); both: first_seen_run. */
  readonly filter: Readonly<Record<string, string>>
  readonly limit: number
}

/** Columns of a row as in the API. */
export type RecordRow = Readonly<Record<string, unknown>>
