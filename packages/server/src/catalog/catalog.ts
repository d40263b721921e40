import { createHash } from 'node:crypto'
import { AppError, type WorkflowKind } from '@scanfarm/contracts'
import {
  hashResolved,
  resolveWorkflow,
  stringifyResolved,
  WorkflowError,
  type ResolvedWorkflow,
  type WorkflowEntry,
  type WorkflowLibrary,
  type WorkflowSource,
} from '@scanfarm/workflow'
import { problemDetails } from './problem-details.ts'

/** A workflow frozen as it is now, ready to be pinned to a job. */
export interface Pinned {
  readonly resolved: ResolvedWorkflow
  readonly hash: string
  /** JSON text whose SHA-256 is `hash`. */
  readonly json: string
}

/** What the last call of `refresh` had not seen. */
export interface Refreshed {
  readonly added: number
  readonly updated: number
  readonly removed: number
  /** Every file that cannot be started now. */
  readonly broken: readonly WorkflowEntry[]
}

/** The workflows that can be started by name: uploaded ones, those of the settings' folders, those that are shipped. */
export interface Catalog {
  list(): Promise<readonly WorkflowEntry[]>
  /** Refuses with `workflow_not_found`. */
  find(name: string): Promise<WorkflowEntry>
  yaml(entry: WorkflowEntry): Promise<string>
  /** SHA-256 of the file in hex. */
  checksum(entry: WorkflowEntry): Promise<string>
  /** Refuses with `workflow_not_found`, also when the name belongs to the other kind, and `invalid_workflow`. */
  pin(name: string, kind: WorkflowKind): Promise<Pinned>
  /** Reads again at once, after an upload. */
  reload(): Promise<void>
  /** The same, and counts what is different from the time before. */
  refresh(): Promise<Refreshed>
}

export const createCatalog = (library: WorkflowLibrary, sources: readonly WorkflowSource[]): Catalog => {
  const pins = new WeakMap<ResolvedWorkflow, Pinned>()
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
  let before = byFile(library.list())
  return {
    async list() {
      await library.refresh()
      return library.list()
    },
    async find(name) {
      await library.refresh()
      const entry = library.find(name)
      if (entry !== undefined) return entry
      throw new AppError(
        'workflow_not_found',
        `workflow not found: there is no workflow named "${name}"; see GET /workflows`,
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
    async pin(name, kind) {
      await library.refresh()
      try {
        return pinned(resolveWorkflow(library, { name, kind }))
      } catch (error) {
        throw error instanceof WorkflowError ? refusalOf(error, name, kind) : error
      }
    },
    reload: () => library.refresh({ force: true }),
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
