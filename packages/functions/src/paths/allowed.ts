import { isAbsolute, join, resolve, sep } from 'node:path'
import type { Owner } from '@scanfarm/contracts'
import { partsBelow, realPath, RefusedPath, type PathLocation } from '@scanfarm/paths'
import type { Folders } from '../environment.ts'

/** A path that the settings allow for workflows, or forbid inside an allowed one. */
export interface AllowedPath {
  readonly path: string
  readonly write: boolean
  readonly closed?: boolean
}

/** `PATH` or `PATH:ro` to read, `PATH:rw` to write too. */
export const parseAllowedPaths = (texts: readonly string[]): AllowedPath[] =>
  texts.map((text) => ({ path: text.replace(/:r[ow]$/, ''), write: text.endsWith(':rw') }))

/** The run whose files a function accesses. */
export interface FileScope {
  readonly folders: Folders
  /** The user of commands, if it is not the user of this process. */
  readonly owner?: Owner | undefined
  /** Further paths that the settings allow. */
  readonly paths?: readonly AllowedPath[] | undefined
  /** Folders that may be read without a setting; default: those of tools and word lists. */
  readonly shared?: readonly string[] | undefined
  /** Cancels work on long files. */
  readonly signal?: AbortSignal
}

/** A path of the author, relative to the run's folder; empty stays empty. */
export const runPath = (text: string, { folders }: FileScope): string =>
  text === '' || isAbsolute(text) ? text : join(folders.output, text)

/** Word lists, templates and tools of the machine. Workflows may read what the user of commands may read. */
const SHARED_FOLDERS = ['/usr/share', '/usr/local/share', '/opt', '/etc/dictionaries-common']

/** A path that a workflow may not use at all. Functions that test for existence report it as missing. */
export class ForbiddenPath extends RefusedPath {
  override readonly name = 'ForbiddenPath'
}

export interface ScopedLocation extends PathLocation {
  /** Whether it is in the folders of the run, whose contents the run's commands control. */
  readonly own: boolean
  readonly write: boolean
}

export const ownRoots = ({ folders }: FileScope): string[] =>
  [folders.output, folders.temp].filter((root) => root !== '').map((root) => resolve(root))

/** Writable ones first, because they may be inside others. */
const otherRoots = ({ folders, paths = [], shared = SHARED_FOLDERS }: FileScope): AllowedPath[] => {
  const { binaries, data, configs, agentConfigs, scripts, workflows, templates } = folders
  const tools = [binaries, data, configs, agentConfigs, scripts, workflows, templates, ...shared]
  const open = paths.filter(({ closed }) => closed !== true)
  return [
    ...open.filter(({ write }) => write),
    ...open.filter(({ write }) => !write),
    ...tools.flatMap((path) => (path === undefined || path === '' ? [] : [{ path, write: false }])),
  ].map(({ path, write }) => ({ path: resolve(path), write }))
}

/** Finds the allowed folder of a path, by its text or by the real path of the folder. */
export const locate = (path: string, scope: FileScope): ScopedLocation | undefined => {
  const wanted = resolve(path)
  const own = ownRoots(scope)
  for (const real of [false, true])
    for (const root of own) {
      const parts = partsBelow(real ? realPath(root) : root, wanted)
      if (parts !== undefined) return { root, parts, own: true, write: true }
    }
  const others = otherRoots(scope)
  for (const real of [false, true])
    for (const { path: root, write } of others) {
      const parts = partsBelow(real ? realPath(root) : root, wanted)
      // From the root and by real names, so that every folder on the way is checked and none of them is a link.
      if (parts === undefined) continue
      const fromTop = [...(partsBelow(sep, realPath(root)) ?? []), ...parts]
      return isClosed(sep + fromTop.join(sep), scope)
        ? undefined
        : { root: sep, parts: fromTop, own: false, write }
    }
  return undefined
}

const isClosed = (real: string, { paths = [] }: FileScope): boolean =>
  paths.some(({ path, closed }) => closed === true && partsBelow(realPath(path), real) !== undefined)

export const outsideError = (path: string, scope: FileScope): ForbiddenPath => {
  const shown = (write: boolean): string =>
    otherRoots(scope)
      .filter((root) => root.write === write)
      .map((root) => root.path)
      .join(', ')
  const writable = [...ownRoots(scope), shown(true)].filter((root) => root !== '').join(', ')
  return new ForbiddenPath(
    `${path} is outside of the folders that a workflow may use: it may read and write ${writable} and read ${shown(false)}; the setting runner.paths (SCANFARM_RUNNER_PATHS) allows more`,
  )
}

export const readOnlyError = (path: string): ForbiddenPath =>
  new ForbiddenPath(
    `${path} may be read but not written by a workflow: write below {{Output}}, or allow it in the setting runner.paths (SCANFARM_RUNNER_PATHS) as PATH:rw`,
  )
