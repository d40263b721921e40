import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, realpathSync, rmdirSync, symlinkSync } from 'node:fs'
import { join, sep } from 'node:path'
import type { Folders } from '@scanfarm/workflow'
import { closedFolder, type Owner } from './folders.ts'

export type ToolFolders = Required<
  Pick<
    Folders,
    | 'base'
    | 'binaries'
    | 'data'
    | 'configs'
    | 'agentConfigs'
    | 'scripts'
    | 'templates'
    | 'snapshots'
    | 'workflows'
  >
>

const PASSAGE = 0o711
const READABLE = 0o755
const CLOSED = 0o700

/** Takes the place of a base folder that is closed to the user of commands, such as one below `/root`. */
const OPEN_PARENT = '/var/lib/scanfarm-tools'

/** Those that commands and functions of workflows may read. */
export const readableFolders = ({ base: _, snapshots: __, ...readable }: ToolFolders): string[] =>
  Object.values(readable).filter((folder) => folder !== '')

const makeFolder = (folder: string, mode: number): void => {
  if (existsSync(folder)) return
  mkdirSync(folder, { recursive: true, mode: PASSAGE })
  chmodSync(folder, mode)
}

/** A base folder that commands could not get to becomes a link to one that they can. */
const makeBase = (base: string, sample: Owner | undefined): void => {
  if (existsSync(base)) return
  makeFolder(base, PASSAGE)
  if (sample === undefined || closedFolder(base, sample) === undefined) return
  const away = join(OPEN_PARENT, createHash('sha256').update(base).digest('hex').slice(0, 16))
  makeFolder(away, PASSAGE)
  if (closedFolder(away, sample) !== undefined) return
  rmdirSync(base)
  symlinkSync(away, base)
}

const realOf = (path: string): string => {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/**
 * The folders for tools as commands see them, made where they are missing. `sample`: a user that must reach them.
 * What cannot be made is left to `folderProblems`.
 */
export function openToolFolders(folders: ToolFolders, sample: Owner | undefined): ToolFolders {
  try {
    makeBase(folders.base, sample)
    for (const folder of readableFolders(folders)) makeFolder(folder, READABLE)
    makeFolder(folders.snapshots, CLOSED)
  } catch {
    // A worker whose disk is read-only does its work without them.
  }
  const base = realOf(folders.base)
  const moved = (folder: string): string =>
    folder === folders.base || folder.startsWith(folders.base + sep)
      ? base + folder.slice(folders.base.length)
      : folder
  return Object.fromEntries(
    Object.entries(folders).map(([name, folder]) => [name, moved(folder)]),
  ) as ToolFolders
}

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** Folders that are not there, or that commands of this user cannot read. */
export const folderProblems = (
  folders: ToolFolders | { readonly home: string },
  sample: Owner | undefined,
): string[] =>
  Object.entries(folders).flatMap(([name, folder]) => {
    if (folder === '' || name === 'base' || name === 'snapshots') return []
    const setting = name === 'home' ? 'runner.home' : `folders.${snake(name)}`
    if (!existsSync(folder)) return [`${setting}: ${folder} does not exist and could not be made`]
    const closed = sample === undefined ? undefined : closedFolder(realOf(folder), sample)
    return closed === undefined
      ? []
      : [`${setting}: commands may not enter ${closed}: change its mode, or choose another folder`]
  })
