import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { compile } from '@scanfarm/contracts'
import { Type, type Static } from 'typebox'
import type { ToolFolders } from './folders.ts'

/** What is known about an installed release file. */
const InstallRecord = Type.Object({
  version: Type.String(),
  architecture: Type.String(),
  url: Type.String(),
  /** SHA-256 of the archive. */
  sha256: Type.String(),
  installed_at: Type.String(),
  /** SHA-256 of each file, by its path: of the program in the folder of programs, or in the current folder of data. */
  files: Type.Record(Type.String(), Type.String()),
})
export type InstallRecord = Static<typeof InstallRecord>

const parse = compile(InstallRecord)

const fileOf = (name: string, { base }: ToolFolders): string => join(base, 'installed-tools', `${name}.json`)

/** Undefined if the tool was not installed by this program, or if the record is damaged. */
export const readRecord = async (name: string, folders: ToolFolders): Promise<InstallRecord | undefined> => {
  try {
    return parse(JSON.parse(await readFile(fileOf(name, folders), 'utf8')))
  } catch {
    return undefined
  }
}

export const writeRecord = async (
  name: string,
  record: InstallRecord,
  folders: ToolFolders,
): Promise<void> => {
  const file = fileOf(name, folders)
  await mkdir(join(file, '..'), { recursive: true, mode: 0o755 })
  const part = `${file}.${randomUUID()}`
  try {
    await using handle = await open(part, 'wx', 0o644)
    await handle.writeFile(JSON.stringify(record))
    await handle.sync()
    await rename(part, file)
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
}
