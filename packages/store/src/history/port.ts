import type { Artifact, AssetContent, FindingContent, Priority, WorkflowKind } from '@scanfarm/contracts'

/** A step that ended before its run came to this farm. Times are ISO 8601. */
export interface PastStep {
  readonly seq: number
  readonly id: string
  readonly name: string
  readonly type: string
  readonly status: 'completed' | 'failed' | 'skipped' | 'cancelled'
  readonly command: string
  readonly output: string
  readonly errorMessage: string
  readonly exports: Readonly<Record<string, string>>
  readonly durationMs: number
  readonly startedAt: string | null
  readonly completedAt: string | null
}

/** A run that ended before it came to this farm. Runs with the same `jobId` are one job. */
export interface PastRun {
  readonly runUuid: string
  /** 16 hex characters. */
  readonly jobId: string
  readonly workflowName: string
  readonly workflowKind: WorkflowKind
  /** As in `JobDraft`: what a copy of the run would execute. */
  readonly workflow: { readonly hash: string; readonly json: string }
  readonly target: string
  readonly workspace: string
  readonly params: Readonly<Record<string, string>>
  readonly priority: Priority
  readonly triggerName: string
  readonly status: 'completed' | 'failed' | 'cancelled'
  readonly errorMessage: string
  readonly totalSteps: number
  readonly completedSteps: number
  readonly createdAt: string
  readonly startedAt: string | null
  readonly completedAt: string
}

/** Bytes that are in the artifact store already. */
export type PastArtifact = Pick<
  Artifact,
  | 'id'
  | 'name'
  | 'artifact_path'
  | 'artifact_type'
  | 'content_type'
  | 'size_bytes'
  | 'line_count'
  | 'description'
> & { readonly storeKey: string; readonly sha256: string }

export interface PastRecord<Content> {
  readonly content: Content
  readonly firstSeen: string
  readonly lastSeen: string
}

/**
 * Brings in what happened before this farm: no events, no triggers, nothing is queued. Everything that is known already
 * stays as it is, so that a repeated import changes nothing. Each call is one transaction.
 */
export interface History {
  /** Resolves to how many were new. */
  addRuns(runs: readonly PastRun[]): Promise<number>
  /** Steps of imported runs by the uuid of the run; those of other runs are left out. */
  addSteps(steps: readonly (PastStep & { readonly runUuid: string })[]): Promise<number>
  addVulnerabilities(workspace: string, records: readonly PastRecord<FindingContent>[]): Promise<number>
  addAssets(workspace: string, records: readonly PastRecord<AssetContent>[]): Promise<number>
  /** Of these runs, those that are here; whoever made them. */
  knownRuns(uuids: readonly string[]): Promise<ReadonlySet<string>>
  /** The imported run of the workspace that ended last. */
  newestRun(workspace: string): Promise<string | undefined>
  /** Of these artifacts, those that a run of the workspace has. */
  knownArtifacts(workspace: string, ids: readonly string[]): Promise<ReadonlySet<string>>
  addArtifacts(runUuid: string, artifacts: readonly PastArtifact[]): Promise<number>
}
