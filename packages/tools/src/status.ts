import { access, constants, readdir, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { releaseFileOf } from './architecture.ts'
import { destinationOf, type ToolFolders } from './folders.ts'
import { sha256Of } from './install/download.ts'
import type { Tool } from './manifest.ts'
import { readRecord, type InstallRecord } from './record.ts'
import { isAtLeast, versionOf } from './version.ts'

export interface ToolSearchPath {
  readonly folders: ToolFolders
  /** Searched for programs after the folder of installed ones, like `PATH`. */
  readonly path: string
}

/** `unknown`: a program of this name, which does not print a version as this tool does. */
export type ToolState = 'ok' | 'outdated' | 'missing' | 'unknown'

export interface ToolStatus {
  readonly tool: Tool
  readonly state: ToolState
  /** The version that was found. */
  readonly version: string | undefined
  /** Where it was found. */
  readonly path: string | undefined
  /** It was installed by this program. */
  readonly managed: boolean
}

const isProgram = async (file: string): Promise<boolean> =>
  (await stat(file).catch(() => undefined))?.isFile() === true &&
  (await access(file, constants.X_OK).then(
    () => true,
    () => false,
  ))

const isFolder = async (path: string): Promise<string | undefined> =>
  (await stat(path).catch(() => undefined))?.isDirectory() === true ? path : undefined

/** The first program of this name in absolute folders. */
export const programIn = async (name: string, folders: readonly string[]): Promise<string | undefined> => {
  for (const folder of folders.filter((one) => one.startsWith('/')))
    if (await isProgram(join(folder, name))) return join(folder, name)
  return undefined
}

export const findProgram = (name: string, { folders, path }: ToolSearchPath): Promise<string | undefined> =>
  programIn(name, [folders.binaries, ...path.split(':')])

const stateOf = ({ version: wanted }: Tool, version: string | undefined): ToolState => {
  if (version === undefined) return 'unknown'
  return isAtLeast(version, wanted) ? 'ok' : 'outdated'
}

/** What this machine has of a tool. */
export const statusOf = async (tool: Tool, search: ToolSearchPath): Promise<ToolStatus> => {
  const destination = destinationOf(tool, search.folders)
  const record = await readRecord(tool.name, search.folders)
  const isData = tool.release?.folder !== undefined
  const found = isData ? await isFolder(destination) : await findProgram(tool.name, search)
  if (found === undefined)
    return { tool, state: 'missing', version: undefined, path: undefined, managed: false }
  const version = isData ? record?.version : await versionOf(tool, found)
  const managed = record !== undefined && found === destination
  return { tool, state: stateOf(tool, version), version, path: found, managed }
}

const filesIn = async (folder: string): Promise<string[]> =>
  (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))

/** Files that differ from the installed ones: altered, missing, or added to a folder of data. */
export const alteredFiles = async (
  tool: Tool,
  { files }: InstallRecord,
  folders: ToolFolders,
): Promise<string[]> => {
  const isData = tool.release?.folder !== undefined
  const root = isData ? destinationOf(tool, folders) : folders.binaries
  const altered: string[] = []
  for (const [name, sha256] of Object.entries(files)) {
    const found = await sha256Of(join(root, name)).catch(() => undefined)
    if (found !== sha256) altered.push(join(root, name))
  }
  if (isData) {
    const added = await filesIn(`${root}/`).catch(() => [])
    altered.push(...added.filter((name) => !Object.hasOwn(files, name)).map((name) => join(root, name)))
  }
  return altered
}

const sourceProblem = (tool: Tool, record: InstallRecord): string | undefined => {
  if (tool.release === undefined) return undefined
  const { sha256 } = releaseFileOf(tool, record.architecture)
  return record.sha256 === sha256
    ? undefined
    : `was installed from ${record.url}, which is not the release file of the manifest: install it again`
}

const STATE_PROBLEMS: Readonly<Record<Exclude<ToolState, 'ok'>, (status: ToolStatus) => string>> = {
  missing: () => 'is missing: install it',
  outdated: ({ version, path, tool }) =>
    `${path} is version ${version}, and ${tool.version} is needed: install it`,
  unknown: ({ path }) =>
    `${path} does not print its version as this tool does: it is another program, or it cannot start`,
}

const MAX_NAMED = 5

/** Why an installed tool must not be trusted; empty if nothing was found. */
export const toolProblems = async (status: ToolStatus, folders: ToolFolders): Promise<string[]> => {
  const { tool, state, managed } = status
  const problems = state === 'ok' ? [] : [STATE_PROBLEMS[state](status)]
  const record = managed ? await readRecord(tool.name, folders) : undefined
  if (record === undefined) return problems
  const source = sourceProblem(tool, record)
  if (source !== undefined) problems.push(source)
  const altered = await alteredFiles(tool, record, folders)
  if (altered.length > 0) {
    const more = altered.length > MAX_NAMED ? ` and ${altered.length - MAX_NAMED} more` : ''
    problems.push(`altered since the installation: ${altered.slice(0, MAX_NAMED).join(', ')}${more}`)
  }
  return problems
}
