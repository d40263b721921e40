import { valueOr } from '@scanfarm/contracts'
import { createHash } from 'node:crypto'
import { existsSync, realpathSync, rmdirSync, symlinkSync } from 'node:fs'
import { join, sep } from 'node:path'
import type { Owner } from '@scanfarm/contracts'
import type { RunSettings } from '../settings/settings.ts'
import { CLOSED, makeFolder, PASSAGE, READABLE } from '../workspaces/make-folder.ts'
import { closedFolder } from '../workspaces/work-folders.ts'

/** Folders on a machine whose content the operator provides. */
export interface ToolFolders {
  readonly base: string
  /** Found before the programs of `runner.path`. */
  readonly binaries: string
  readonly data: string
  readonly configs: string
  readonly agentConfigs: string
  readonly scripts: string
  readonly templates: string
  /** Closed to workflows unless `runner.paths` lists it. */
  readonly snapshots: string
  readonly workflows: string
}

/** The names are those of an Osmedeus base folder, so that `folders.base` can name an existing one. */
const foldersIn = (base: string, workflows: string): ToolFolders => ({
  base,
  binaries: join(base, 'external-binaries'),
  data: join(base, 'external-data'),
  configs: join(base, 'external-configs'),
  agentConfigs: join(base, 'external-agent-configs'),
  scripts: join(base, 'external-scripts'),
  templates: join(base, 'markdown-report-templates'),
  snapshots: join(base, 'snapshot'),
  workflows,
})

interface FolderSettings {
  readonly folders: Pick<RunSettings['folders'], 'base'>
  readonly workflows: Pick<RunSettings['workflows'], 'folders'>
}

export const toolFolders = ({ folders, workflows }: FolderSettings): ToolFolders =>
  foldersIn(folders.base, workflows.folders[0] ?? '')

/** Replaces a base folder that the user of commands cannot enter, like one below `/root`. */
const OPEN_PARENT = '/var/lib/scanfarm-tools'

/** The folders that commands and functions may read. */
export const readableFolders = ({ base: _, snapshots: __, ...readable }: ToolFolders): string[] =>
  Object.values(readable).filter((folder) => folder !== '')

/** A base folder that commands cannot enter becomes a link to one that they can. */
const makeBase = (base: string, sample: Owner | undefined): void => {
  if (!makeFolder(base, PASSAGE) || sample === undefined || closedFolder(base, sample) === undefined) return
  const away = join(OPEN_PARENT, createHash('sha256').update(base).digest('hex').slice(0, 16))
  makeFolder(away, PASSAGE)
  if (closedFolder(away, sample) !== undefined) return
  rmdirSync(base)
  symlinkSync(away, base)
}

const realOf = (path: string): string => valueOr(() => realpathSync(path), path)

/**
 * The real paths of the folders for tools; makes missing ones. `sample`: a user that must be able to enter them.
 * `folderProblems` reports the folders that could not be made.
 */
export function openToolFolders(folders: ToolFolders, sample: Owner | undefined): ToolFolders {
  try {
    makeBase(folders.base, sample)
    for (const folder of readableFolders(folders)) makeFolder(folder, READABLE)
    makeFolder(folders.snapshots, CLOSED)
  } catch {
    // A worker with a read-only disk works without them.
  }
  const base = realOf(folders.base)
  const { workflows } = folders
  const isBelow = workflows.startsWith(folders.base + sep)
  return foldersIn(base, isBelow ? base + workflows.slice(folders.base.length) : workflows)
}

const SETTINGS: Readonly<Record<string, string>> = { home: 'runner.home', workflows: 'workflows.folders' }

/** Folders that do not exist, or that commands of this user cannot enter. */
export const folderProblems = (
  folders: ToolFolders | { readonly home: string },
  sample: Owner | undefined,
): string[] =>
  Object.entries<string>({ ...folders }).flatMap(([name, folder]) => {
    if (folder === '' || name === 'base' || name === 'snapshots') return []
    const setting = SETTINGS[name] ?? 'folders.base'
    if (!existsSync(folder)) return [`${setting}: ${folder} does not exist and could not be created`]
    const closed = sample === undefined ? undefined : closedFolder(realOf(folder), sample)
    return closed === undefined
      ? []
      : [`${setting}: commands cannot enter ${closed}: change its mode, or choose another folder`]
  })
