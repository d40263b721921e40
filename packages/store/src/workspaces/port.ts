import type { Org, OrgStats, Severity, WorkspaceSource } from '@scanfarm/contracts'
import type { PageOf, PageRequest } from '../store.ts'

/** Has every workspace that no other organisation has; it cannot be renamed or deleted. */
export const DEFAULT_ORG = '00000000-0000-0000-0000-000000000001'

export interface WorkspaceFilter {
  /** Part of the name, upper or lower case. */
  readonly search?: string
  /** uuid of an organisation. */
  readonly org?: string
  readonly source?: WorkspaceSource
}

/** What is known under the name of a workspace. */
export interface WorkspaceCounts {
  readonly name: string
  /** A number made of the name, for clients that need one. */
  readonly id: number
  readonly org: string
  readonly source: WorkspaceSource
  readonly runs: number
  readonly assets: number
  /** Assets of the types that clients show by themselves. */
  readonly byType: Readonly<Record<string, number>>
  readonly bySeverity: Readonly<Record<Severity, number>>
  /** Of the newest run; null without one. */
  readonly lastRun: string | null
  readonly workflow: string
  readonly createdAt: string | null
  readonly updatedAt: string | null
}

/** A workspace is a name that runs, assets, vulnerabilities or an organisation have. */
export interface Workspaces {
  /** By name. */
  list(filter: WorkspaceFilter, page: PageRequest): Promise<PageOf<WorkspaceCounts>>
  names(limit: number): Promise<string[]>
  count(): Promise<number>
  exists(name: string): Promise<boolean>
}

export interface OrgDraft {
  readonly uuid?: string
  readonly name: string
  readonly description: string
  readonly tags: readonly string[]
}

export interface Orgs {
  /** All there are, the default one first; at most MAX_ORGS. Counts of large ones may be a few seconds old. */
  list(): Promise<{ org: Org; stats: OrgStats }[]>
  /** By uuid or name. */
  find(ref: string): Promise<Org | undefined>
  stats(org: Org): Promise<OrgStats>
  /** `taken`: the name or the uuid is another's. */
  create(draft: OrgDraft): Promise<Org | 'taken' | 'full'>
  /** Undefined: it is gone. */
  change(uuid: string, change: Partial<Omit<OrgDraft, 'uuid'>>): Promise<Org | 'taken' | undefined>
  /** Takes the workspaces from the organisations that have them now; how many changed. */
  assign(uuid: string, workspaces: readonly string[]): Promise<number>
  /** Its workspaces are the default organisation's then. */
  remove(uuid: string): Promise<boolean>
}
