import type { ImportProblem, ImportSummary, NotTested, ObjectStorage, ReportFacts } from '@scanfarm/contracts'
import type { ImportFormat } from '@scanfarm/findings'
import type { Json } from '@scanfarm/language'

/** Services outside the worker's machine. All are optional; functions report a missing one. */
export interface FunctionServices {
  readonly database?: DatabaseService
  readonly notify?: NotifyService
  readonly storage?: ObjectStorage
  readonly llm?: LlmSettings
  /** `http.allow_private` */
  readonly http?: { readonly allowPrivate: boolean }
  /** Resolves to the reason why an item of a loop, or the URL of a request, may not be scanned. */
  readonly permit?: (target: string, place: 'item' | 'request' | 'redirect') => Promise<string | undefined>
  /** Starts another workflow and resolves with its outcome: `run_module`, `run_flow`. */
  run?(request: {
    kind: 'module' | 'flow'
    name: string
    target: string
    params: Record<string, string>
  }): Promise<Json>
}

/** Findings and assets of a workspace. */
export interface DatabaseService {
  /** Adds or updates assets; returns the number of new, changed and unchanged ones. */
  importAssets(
    workspace: string,
    assets: readonly Record<string, Json>[],
    by: ImportedBy,
  ): Promise<ImportCounts>
  /** Rows in the format of scanners. */
  importVulnerabilities(
    workspace: string,
    items: readonly Record<string, Json>[],
    by: ImportedBy,
  ): Promise<ImportCounts>
  /**
   * Imports a whole report. Rejects if it does not have the format; without a format it is guessed. No report: the
   * scan wrote an empty file.
   */
  importReport(
    workspace: string,
    format: ImportFormat | undefined,
    report: AsyncIterable<Uint8Array> | undefined,
    by: ImportedBy,
  ): Promise<ImportCounts>
  assets(workspace: string, filter: Record<string, string>): Promise<Record<string, Json>[]>
  vulnerabilities(workspace: string, filter: Record<string, string>): Promise<Record<string, Json>[]>
  /** Adds to a counter of the workspace, or sets it to 0; returns its value. */
  count(workspace: string, counter: string, add: number | 'reset'): Promise<number>
  runStatus(filter: { workspace?: string; runUuid?: string }): Promise<Record<string, Json>[]>
  /** What a report says about the run's workspace and job. */
  report(): Promise<ReportFacts>
}

/** The step that imports records. Records that it does not import in a later run are gone, also if it imports none. */
export interface ImportedBy {
  readonly step: string
  /** The UUID of the import, whose calls are parts of it. */
  readonly importId: string
  /** Hosts that the scan reached: only their records can be gone. Default: all hosts. */
  readonly reached?: readonly string[] | undefined
  /** All that the module of the step did not test. Default: not known. */
  readonly untested?: readonly NotTested[] | undefined
  /** The folder that was scanned, for absolute paths of files in reports. */
  readonly root?: string
}

export interface ImportCounts extends ImportSummary {
  /** The first problems of a report. */
  readonly problems?: readonly ImportProblem[]
}

export interface NotifyService {
  /** Sends a text and optionally a file to a channel of the settings (`""`: the default one). */
  send(message: {
    kind: 'telegram' | 'webhook'
    channel: string
    text: string
    /** The name and path of the file. */
    file?: { readonly name: string; readonly path: string }
    event?: { type: string; data: Json }
  }): Promise<void>
}

export interface LlmProvider {
  readonly name: string
  /** Including `/v1`. */
  readonly baseUrl: string
  readonly apiKey: string
  readonly model: string
}

export interface LlmSettings {
  /** Tried in this order. */
  readonly providers: readonly LlmProvider[]
}
