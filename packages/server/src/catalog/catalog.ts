import { createHash } from 'node:crypto'
import { AppError, type FieldError, type WorkflowKind } from '@scanfarm/contracts'
import {
  hashResolved,
  placeOf,
  referencedModule,
  resolveWorkflow,
  stringifyResolved,
  WorkflowError,
  type Problem,
  type ResolvedWorkflow,
  type Workflow,
  type WorkflowEntry,
  type WorkflowLibrary,
  type WorkflowSource,
} from '@scanfarm/language'

/** A workflow resolved at one moment, ready to be pinned to a job. */
export interface Pinned {
  readonly resolved: ResolvedWorkflow
  readonly hash: string
  /** JSON text whose SHA-256 is `hash`. */
  readonly json: string
}

export interface CatalogReferences {
  readonly parent: WorkflowEntry | undefined
  readonly modules: ReadonlyMap<string, WorkflowEntry>
}

/** Differences since the previous call of `refresh`. */
export interface RefreshResult {
  readonly added: number
  readonly updated: number
  readonly removed: number
  /** All files that cannot be started. */
  readonly broken: readonly WorkflowEntry[]
}

/** The workflows that can be started by name: uploaded ones, those in the folders of the settings, and shipped ones. */
export interface Catalog {
  list(): Promise<readonly WorkflowEntry[]>
  /** Throws `workflow_not_found`. */
  find(name: string): Promise<WorkflowEntry>
  yaml(entry: WorkflowEntry): Promise<string>
  /** SHA-256 of the file in hex. */
  checksum(entry: WorkflowEntry): Promise<string>
  /** When an entry was first asked for: the server read its file shortly before. ISO 8601. */
  readAt(entry: WorkflowEntry): string
  /** Throws `workflow_not_found`, also if the name belongs to the other kind, and `invalid_workflow`. */
  pin(name: string, kind: WorkflowKind): Promise<Pinned>
  /** The files that an entry refers to: its parent, and its modules by the name of the reference. */
  references(entry: WorkflowEntry, workflow: Workflow): CatalogReferences
  /** Reads all sources again, for example after an upload. */
  reload(): Promise<void>
  /** How often `reload` has read them, beginning with 1. */
  readonly version: number
  /** Reads all sources again and counts the differences. */
  refresh(): Promise<RefreshResult>
}

export const createCatalog = (library: WorkflowLibrary, sources: readonly WorkflowSource[]): Catalog => {
  const pins = new WeakMap<ResolvedWorkflow, Pinned>()
  let version = 1
  const pinned = (resolved: ResolvedWorkflow): Pinned => {
    const known = pins.get(resolved)
    if (known !== undefined) return known
    const made = { resolved, hash: hashResolved(resolved), json: stringifyResolved(resolved) }
    pins.set(resolved, made)
    return made
  }
  const yaml = async (entry: WorkflowEntry): Promise<string> =>
    (await sources.find(({ name }) => name === entry.source)?.read(entry.path)) ?? ''
  // An entry is replaced when its file changes.
  const checksums = new WeakMap<WorkflowEntry, Promise<string>>()
  const times = new WeakMap<WorkflowEntry, string>()
  let before = byFile(library.list())
  /** Before an unknown name is refused, all sources are read again: its file may have been stored a moment ago. */
  const refreshFor = async (name: string, kind?: WorkflowKind): Promise<void> => {
    await library.refresh()
    if (library.find(name, kind) === undefined) await library.refresh({ force: true })
  }
  return {
    async list() {
      await library.refresh()
      return library.list()
    },
    async find(name) {
      await refreshFor(name)
      const entry = library.find(name)
      if (entry !== undefined) return entry
      throw new AppError(
        'workflow_not_found',
        `workflow not found: no workflow is named "${name}"; see GET /workflows`,
      )
    },
    yaml,
    checksum(entry) {
      const known = checksums.get(entry)
      if (known !== undefined) return known
      const made = yaml(entry).then((text) => createHash('sha256').update(text).digest('hex'))
      checksums.set(entry, made)
      made.catch(() => checksums.delete(entry))
      return made
    },
    readAt(entry) {
      const time = times.get(entry) ?? new Date().toISOString()
      times.set(entry, time)
      return time
    },
    async pin(name, kind) {
      await refreshFor(name, kind)
      try {
        return pinned(resolveWorkflow(library, { name, kind }))
      } catch (error) {
        throw error instanceof WorkflowError ? refusalOf(error, name, kind) : error
      }
    },
    references(entry, { extends: parent, modules = [] }) {
      const found = modules.flatMap((ref): [string, WorkflowEntry][] => {
        const module = referencedModule(library, entry, ref)
        return module === undefined ? [] : [[ref.name, module]]
      })
      return {
        parent: parent === undefined ? undefined : library.find(parent, entry.kind, entry),
        modules: new Map(found),
      }
    },
    async reload() {
      await library.refresh({ force: true })
      version += 1
    },
    get version() {
      return version
    },
    async refresh() {
      await library.refresh({ force: true })
      const now = byFile(library.list())
      const earlier = before
      before = now
      return {
        added: count(now, ([file]) => !earlier.has(file)),
        updated: count(now, ([file, entry]) => (earlier.get(file) ?? entry) !== entry),
        removed: count(earlier, ([file]) => !now.has(file)),
        broken: [...now.values()].filter(({ workflow }) => workflow === undefined),
      }
    },
  }
}

type Files = ReadonlyMap<string, WorkflowEntry>

const byFile = (entries: readonly WorkflowEntry[]): Files =>
  new Map(entries.map((entry) => [`${entry.source}\n${entry.path}`, entry]))

const count = (files: Files, wanted: (file: [string, WorkflowEntry]) => boolean): number =>
  [...files].filter(wanted).length

const refusalOf = (error: WorkflowError, name: string, kind: WorkflowKind): AppError => {
  if (error.reason === 'invalid')
    return new AppError('invalid_workflow', error.message, { details: problemDetails(error.problems) })
  const other = kind === 'flow' ? 'module' : 'flow'
  const message =
    error.reason === 'other-kind'
      ? `"${name}" is a ${other}, not a ${kind}: send it as "${other}"`
      : error.message
  return new AppError('workflow_not_found', message, { details: [{ path: `/${kind}`, message }] })
}

const MAX_DETAILS = 50

/** Problems of a workflow file as error details, with the position `file:line:column` as path. */
export const problemDetails = (problems: readonly Problem[]): FieldError[] =>
  problems
    .filter(({ severity }) => severity === 'error')
    .slice(0, MAX_DETAILS)
    .map((problem) => ({
      path: placeOf(problem),
      message: problem.hint === '' ? problem.message : `${problem.message} ${problem.hint}`,
    }))
