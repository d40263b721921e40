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

/** The workflows that can be started by name: uploaded ones, those of the settings' folders, those that are shipped. */
export interface Catalog {
  list(): Promise<readonly WorkflowEntry[]>
  /** Refuses with `workflow_not_found`. */
  find(name: string): Promise<WorkflowEntry>
  yaml(entry: WorkflowEntry): Promise<string>
  /** Refuses with `workflow_not_found`, also when the name belongs to the other kind, and `invalid_workflow`. */
  pin(name: string, kind: WorkflowKind): Promise<Pinned>
  /** Reads again at once, after an upload. */
  reload(): Promise<void>
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
  return {
    async list() {
      await library.refresh()
      return library.list()
    },
    async find(name) {
      await library.refresh()
      const entry = library.find(name)
      if (entry !== undefined) return entry
      throw new AppError('workflow_not_found', `there is no workflow named "${name}"; see GET /workflows`)
    },
    yaml: async (entry) => (await sources.find(({ name }) => name === entry.source)?.read(entry.path)) ?? '',
    async pin(name, kind) {
      await library.refresh()
      try {
        return pinned(resolveWorkflow(library, { name, kind }))
      } catch (error) {
        throw error instanceof WorkflowError ? refusalOf(error, name, kind) : error
      }
    },
    reload: () => library.refresh({ force: true }),
  }
}

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
