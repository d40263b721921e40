import type { Json } from '../model.ts'

/** What functions reach beyond the machine they run on. Every part may be missing; its functions then say so. */
export interface FunctionServices {
  readonly database?: DatabaseService
  readonly notify?: NotifyService
  readonly storage?: StorageService
  readonly llm?: LlmSettings
  /** Starts another workflow and resolves with its outcome: `run_module`, `run_flow`. */
  run?(request: {
    kind: 'module' | 'flow'
    name: string
    target: string
    params: Record<string, string>
  }): Promise<Json>
}

/** The findings of the workspace the run belongs to, or of one that is named. */
export interface DatabaseService {
  /** Adds or updates assets; answers how many were new, changed, the same. */
  importAssets(
    workspace: string,
    assets: readonly Record<string, Json>[],
    by: ImportedBy,
  ): Promise<ImportCounts>
  /** Rows as scanners write them. */
  importVulnerabilities(
    workspace: string,
    items: readonly Record<string, Json>[],
    by: ImportedBy,
  ): Promise<ImportCounts>
  /** The same from a whole report. Rejects where it is not of the format. */
  importReport(
    workspace: string,
    format: 'sarif',
    report: AsyncIterable<Uint8Array>,
    by: ImportedBy,
  ): Promise<ImportCounts>
  assets(workspace: string, filter: Record<string, string>): Promise<Record<string, Json>[]>
  vulnerabilities(workspace: string, filter: Record<string, string>): Promise<Record<string, Json>[]>
  /** Adds to a counter of the workspace, or sets it to 0; answers its value. */
  count(workspace: string, counter: string, add: number | 'reset'): Promise<number>
  runStatus(filter: { workspace?: string; runUuid?: string }): Promise<Record<string, Json>[]>
}

/** Records that a step no longer brings in a later run are gone. An empty list is a step that saw none. */
export interface ImportedBy {
  readonly step: string
  /** Hosts that it reached: only records of these can be gone. Missing: all that it looks at. */
  readonly reached?: readonly string[] | undefined
}

export interface ImportCounts {
  readonly new: number
  readonly updated: number
  readonly unchanged: number
  readonly errors: number
}

export interface NotifyService {
  /** Sends text, with a file if given, to a channel of the settings (`""`: the default one). */
  send(message: {
    kind: 'telegram' | 'webhook'
    channel: string
    text: string
    /** Under which name it is sent, and where it is read. */
    file?: { readonly name: string; readonly path: string }
    event?: { type: string; data: Json }
  }): Promise<void>
}

export interface StoredFile {
  readonly key: string
  readonly size: number
  /** ISO 8601. */
  readonly modified: string
}

/** An object store of the settings; keys are `/`-separated. */
export interface StorageService {
  /** Only a regular file that really lies inside one of `roots`. */
  upload(path: string, key: string, signal: AbortSignal, roots: readonly string[]): Promise<void>
  /** The file belongs to `owner`. */
  download(
    key: string,
    path: string,
    signal: AbortSignal,
    owner?: { readonly uid: number; readonly gid: number },
  ): Promise<void>
  remove(key: string): Promise<void>
  stat(key: string): Promise<StoredFile | undefined>
  list(prefix: string, limit: number): Promise<StoredFile[]>
  /** Address under which the object can be read for some minutes. */
  presign(key: string, minutes: number): Promise<string>
}

export interface LlmProvider {
  readonly name: string
  /** Up to and with `/v1`. */
  readonly baseUrl: string
  readonly apiKey: string
  readonly model: string
}

export interface LlmSettings {
  /** Tried in this order. */
  readonly providers: readonly LlmProvider[]
}
