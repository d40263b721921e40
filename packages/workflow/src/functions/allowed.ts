import { realpath } from 'node:fs/promises'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import type { Folders, Owner } from '../execute/surroundings.ts'

/** A folder or file that the settings open for workflows, or close though it lies in an open one. */
export interface AllowedPath {
  readonly path: string
  readonly write: boolean
  readonly closed?: boolean
}

/** `PATH` or `PATH:ro` to read, `PATH:rw` to write too. */
export const parseAllowedPaths = (texts: readonly string[]): AllowedPath[] =>
  texts.map((text) => ({ path: text.replace(/:r[ow]$/, ''), write: text.endsWith(':rw') }))

/** The run whose files are worked on. */
export interface RunPlace {
  readonly folders: Folders
  /** The user of commands, where that is not the user of this process. */
  readonly owner?: Owner | undefined
  /** What the settings allow besides the folders of the run and the shared ones. */
  readonly paths?: readonly AllowedPath[] | undefined
  /** Folders of the machine that may be read without being named in the settings; default: those of tools and lists. */
  readonly shared?: readonly string[] | undefined
  /** Ends work on long files. */
  readonly signal?: AbortSignal
}

/** Word lists, templates and tools of the machine: any workflow may read them where the user of commands may. */
const SHARED_FOLDERS = ['/usr/share', '/usr/local/share', '/opt', '/etc/dictionaries-common']

/** The run's own misuse of a path; the code makes it a failure of the step, like other troubles with files. */
export class RefusedPath extends Error {
  override readonly name: string = 'RefusedPath'
  readonly code = 'ERR_REFUSED_PATH'
}

/** A path that a workflow may not use at all. A function that only asks whether it exists answers no. */
export class ForbiddenPath extends RefusedPath {
  override readonly name = 'ForbiddenPath'
}

/** Where a path leads: through `parts`, beginning in the folder `root`. */
export interface Spot {
  readonly root: string
  readonly parts: readonly string[]
  /** In the folders of the run, which commands of the run fill as they like. */
  readonly own: boolean
  readonly write: boolean
}

const below = (root: string, path: string): string[] | undefined => {
  const rest = relative(root, path)
  if (rest === '..' || rest.startsWith(`..${sep}`) || isAbsolute(rest)) return undefined
  return rest === '' ? [] : rest.split(sep)
}

const ownRoots = ({ folders }: RunPlace): string[] =>
  [folders.output, folders.temp].filter((root) => root !== '').map((root) => resolve(root))

/** Writable ones first, because they may lie inside others. */
const otherRoots = ({ folders, paths = [], shared = SHARED_FOLDERS }: RunPlace): AllowedPath[] => {
  const { binaries, data, configs, agentConfigs, scripts, workflows, templates } = folders
  const tools = [binaries, data, configs, agentConfigs, scripts, workflows, templates, ...shared]
  const open = paths.filter(({ closed }) => closed !== true)
  return [
    ...open.filter(({ write }) => write),
    ...open.filter(({ write }) => !write),
    ...tools.flatMap((path) => (path === undefined || path === '' ? [] : [{ path, write: false }])),
  ].map(({ path, write }) => ({ path: resolve(path), write }))
}

/** The allowed folder that a path lies in, by its text or by the real path of the folder. */
export const spotOf = async (path: string, place: RunPlace): Promise<Spot | undefined> => {
  const wanted = resolve(path)
  const own = ownRoots(place)
  for (const real of [false, true])
    for (const root of own) {
      const parts = below(real ? await realOf(root) : root, wanted)
      if (parts !== undefined) return { root, parts, own: true, write: true }
    }
  const others = otherRoots(place)
  for (const real of [false, true])
    for (const { path: root, write } of others) {
      const parts = below(real ? await realOf(root) : root, wanted)
      // From the top and by real names: every folder on the way is then looked at, and none of them is a link.
      if (parts === undefined) continue
      const fromTop = [...(below(sep, await realOf(root)) ?? []), ...parts]
      return (await isClosed(sep + fromTop.join(sep), place))
        ? undefined
        : { root: sep, parts: fromTop, own: false, write }
    }
  return undefined
}

const isClosed = async (real: string, { paths = [] }: RunPlace): Promise<boolean> => {
  for (const { path, closed } of paths)
    if (closed === true && below(await realOf(path), real) !== undefined) return true
  return false
}

const realOf = async (path: string): Promise<string> => await realpath(path).catch(() => path)

export const outside = (path: string, place: RunPlace): ForbiddenPath => {
  const shown = (write: boolean): string =>
    otherRoots(place)
      .filter((root) => root.write === write)
      .map((root) => root.path)
      .join(', ')
  const writable = [...ownRoots(place), shown(true)].filter((root) => root !== '').join(', ')
  return new ForbiddenPath(
    `${path} is outside of the folders that a workflow may use: it may read and write ${writable} and read ${shown(false)}; the setting runner.paths (SCANFARM_RUNNER_PATHS) allows more`,
  )
}

export const readOnly = (path: string): ForbiddenPath =>
  new ForbiddenPath(
    `${path} may be read but not written by a workflow: write below {{Output}}, or allow it in the setting runner.paths (SCANFARM_RUNNER_PATHS) as PATH:rw`,
  )
