import type { WorkflowKind } from '@scanfarm/contracts'
import type { Param, Trigger, Workflow } from '../model.ts'
import type { Problem } from '../problem.ts'
import type { Position } from '../read/document.ts'

/** A workflow as lists show it, also if it is invalid. */
export interface WorkflowEntry {
  readonly name: string
  readonly kind: WorkflowKind
  readonly description: string
  readonly tags: readonly string[]
  readonly hidden: boolean
  readonly params: readonly Param[]
  readonly triggers: readonly Trigger[]
  /** Path in its source. */
  readonly path: string
  readonly source: string
  readonly problems: readonly Problem[]
  /** Undefined if the file is invalid. */
  readonly workflow: Workflow | undefined
  /** Positions of references to other files: the parent under `extends`, each module under its name. */
  readonly references: Readonly<Record<string, Position>>
}

/** All workflows by name. Reads are cheap and synchronous; `refresh` loads changes. */
export interface WorkflowLibrary {
  /** Increases with every change; a cache key for derived data. */
  readonly generation: number
  /** Finds new, changed and deleted files and reads only these. Concurrent calls share one pass. */
  refresh(options?: { force?: boolean }): Promise<void>
  /** All workflows, including invalid ones, sorted by name. */
  list(): readonly WorkflowEntry[]
  /**
   * Finds by file name without extension, then `<name>-flow`, `<name>-module`, then the `name` field; a name with a slash
   * is only a path. Valid files are preferred to invalid ones, and the requested kind to the other one.
   */
  find(name: string, kind?: WorkflowKind, from?: WorkflowEntry): WorkflowEntry | undefined
  /** Adds or replaces a workflow in memory. */
  put(path: string, text: string): Promise<void>
  remove(path: string): Promise<void>
}
