import { randomUUID } from 'node:crypto'
import { chmod, lstat, mkdir, mkdtemp, readdir, readlink, rename, rm, stat, symlink } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { fileErrorText, lockMachine } from '@scanfarm/platform'
import { ownArchitecture, releaseFileOf, type ReleaseFile } from '../architecture.ts'
import { ToolError } from '../errors.ts'
import { destinationOf, versionsOf, type ToolFolders } from '../folders.ts'
import type { Tool } from '../manifest.ts'
import { readRecord, writeRecord } from '../record.ts'
import { alteredFiles } from '../status.ts'
import { download, type DownloadOptions } from './download.ts'
import { sourceOf } from './source.ts'
import { unpackFolder, unpackProgram } from './unpack.ts'

/** Another process may be downloading the same tool. */
const LOCK_MS = 30 * 60_000
/** Unfinished installations are deleted after this time. */
const STALE_MS = 3_600_000
const OPEN = 0o755

export interface InstallOptions extends Pick<DownloadOptions, 'signal' | 'onBytes' | 'stallMs'> {
  readonly folders: ToolFolders
  /** A URL or a folder with the release files. */
  readonly mirror?: string
  readonly architecture?: string
  /** Replaces what is there, also if it was not installed by this program. */
  readonly force?: boolean
}

export interface Installation {
  readonly path: string
  /** False: this version was there already, and its files are not altered. */
  readonly changed: boolean
}

/** Makes a folder that the users of commands can read, whatever the mask of this process is. */
const openFolder = async (folder: string): Promise<void> => {
  const first = await mkdir(folder, { recursive: true })
  if (first !== undefined) await chmod(folder, OPEN)
}

const removeStale = async (folder: string, prefix: string): Promise<void> => {
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    const age = name.startsWith(prefix)
      ? Date.now() - ((await stat(path).catch(() => undefined))?.mtimeMs ?? 0)
      : 0
    if (age > STALE_MS) await rm(path, { recursive: true, force: true })
  }
}

/** Refuses what this program must not replace. */
const checkDestination = async (tool: Tool, destination: string, known: boolean): Promise<void> => {
  const facts = await lstat(destination).catch(() => undefined)
  if (facts === undefined) return
  if (facts.isDirectory())
    throw new ToolError(`${destination} is a folder that was not installed by this program: move it away`)
  if (!known)
    throw new ToolError(
      `${destination} was not installed by this program: remove it, or replace it with --force`,
    )
  if (tool.release?.folder !== undefined && !facts.isSymbolicLink())
    throw new ToolError(`${destination} is not a link to a folder: remove it`)
}

interface Unpacking {
  readonly tool: Tool
  readonly file: ReleaseFile
  readonly archive: string
  readonly part: string
  readonly destination: string
}

/** What was unpacked, and how it is put in place: in one step, so that commands find either the old or the new one. */
interface Unpacked {
  readonly files: Record<string, string>
  replace(): Promise<void>
}

const unpackedProgram = async ({ tool, file, archive, part, destination }: Unpacking): Promise<Unpacked> => {
  const program = join(part, 'program')
  const sha256 = await unpackProgram(archive, file.url, file.member, program)
  return { files: { [tool.name]: sha256 }, replace: () => rename(program, destination) }
}

const unpackedFolder = async (
  { tool, file, archive, part, destination }: Unpacking,
  versions: string,
): Promise<Unpacked> => {
  const content = join(part, 'content')
  await openFolder(content)
  const files = await unpackFolder(archive, file.url, file.member, content)
  return {
    files,
    async replace() {
      const before = await readlink(destination).catch(() => '')
      const version = join(versions, `${tool.version}-${randomUUID().slice(0, 8)}`)
      await rename(content, version)
      const link = join(part, 'link')
      await symlink(relative(dirname(destination), version), link)
      await rename(link, destination)
      // Running commands may still read the last version.
      const kept = [basename(version), basename(before), basename(part)]
      for (const name of await readdir(versions))
        if (!kept.includes(name)) await rm(join(versions, name), { recursive: true, force: true })
    },
  }
}

const isInstalled = async (tool: Tool, file: ReleaseFile, folders: ToolFolders): Promise<boolean> => {
  const record = await readRecord(tool.name, folders)
  return record?.sha256 === file.sha256 && (await alteredFiles(tool, record, folders)).length === 0
}

const install = async (tool: Tool, file: ReleaseFile, options: InstallOptions): Promise<void> => {
  const { folders, mirror, force = false } = options
  const isData = tool.release?.folder !== undefined
  const destination = destinationOf(tool, folders)
  await checkDestination(tool, destination, force || (await readRecord(tool.name, folders)) !== undefined)
  const around = isData ? versionsOf(tool, folders) : folders.binaries
  await openFolder(dirname(destination))
  await openFolder(around)
  const prefix = `.part-${tool.name}-`
  await removeStale(around, prefix)
  const part = await mkdtemp(join(around, prefix))
  try {
    const archive = join(part, 'archive')
    await download(sourceOf(file.url, mirror), archive, { ...options, sha256: file.sha256 })
    const unpacking = { tool, file, archive, part, destination }
    const unpacked = await (isData ? unpackedFolder(unpacking, around) : unpackedProgram(unpacking))
    options.signal?.throwIfAborted()
    const record = {
      version: tool.version,
      architecture: file.architecture,
      url: file.url,
      sha256: file.sha256,
      installed_at: new Date().toISOString(),
      files: unpacked.files,
    }
    // The record comes first: after a crash in between, the next installation replaces the old files.
    await writeRecord(tool.name, record, folders)
    await unpacked.replace()
  } finally {
    await rm(part, { recursive: true, force: true })
  }
}

/**
 * Installs the release file of a tool, unless it is installed and unaltered. The files of the old version stay until the new
 * ones have been checked, and are replaced in one step.
 */
export const installTool = async (tool: Tool, options: InstallOptions): Promise<Installation> => {
  const { folders, architecture = ownArchitecture(), force = false } = options
  const file = releaseFileOf(tool, architecture)
  const path = destinationOf(tool, folders)
  await using _ = await lockMachine(`tool ${path}`, LOCK_MS)
  if (!force && (await isInstalled(tool, file, folders))) return { path, changed: false }
  try {
    await install(tool, file, options)
  } catch (error) {
    if (error instanceof ToolError || options.signal?.aborted === true) throw error
    throw new ToolError(`${path} cannot be written: ${fileErrorText(error)}`, { cause: error })
  }
  return { path, changed: true }
}
