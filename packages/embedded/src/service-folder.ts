import { createHash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chown, mkdir, readFile, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { canTraverse, type Account } from './account.ts'
import { closeDataDir, makePassable, OWNER_ONLY, PRIVATE } from './private-folder.ts'

const OPEN_PARENT = '/var/lib/scanfarm-services'

/**
 * Creates the data folder if it is missing. Closes it to other users, who can only pass through it: services that root
 * starts as another user must reach their folders.
 */
export const makeDataDir = async (dataDir: string): Promise<string> => {
  if (process.getuid?.() === 0) await makePassable(dataDir)
  else await mkdir(dataDir, { recursive: true, mode: PRIVATE })
  const folder = await realpath(dataDir)
  await closeDataDir(folder)
  return folder
}

/**
 * The folder for embedded services. It is in the data folder, unless their account cannot access it, for example below
 * `/root`: then it is elsewhere, and a link in the data folder points to it.
 */
export const serviceFolder = async (dataDir: string, account: Account): Promise<string> => {
  const home = await makeDataDir(dataDir)
  const link = join(home, 'services')
  if (!existsSync(link) && !canTraverse(home, account)) {
    const away = join(OPEN_PARENT, createHash('sha256').update(home).digest('hex').slice(0, 16))
    await makePassable(away)
    await symlink(away, link)
  }
  await makePassable(link)
  return realpath(link)
}

/** Deletes a data folder and the folder of its services, which must have been stopped. */
export const removeDataDir = async (dataDir: string): Promise<void> => {
  const services = await realpath(join(dataDir, 'services')).catch(() => undefined)
  if (services !== undefined) await rm(services, { recursive: true, force: true })
  await rm(dataDir, { recursive: true, force: true })
}

/** Creates a folder that only the account can access. */
export const makeOwnFolder = async (folder: string, { drop, uid, gid }: Account): Promise<string> => {
  await mkdir(folder, { recursive: true, mode: PRIVATE })
  if (drop) await chown(folder, uid, gid)
  return folder
}

/** Writes a file that only this user can read. A program that is killed meanwhile leaves the complete file or none. */
export const writeWhole = async (file: string, text: string): Promise<void> => {
  const unfinished = `${file}.unfinished`
  await writeFile(unfinished, text, { mode: OWNER_ONLY })
  await rename(unfinished, file)
}

/** The password in this file, which the first caller creates. The caller must hold the lock of the folder. */
export const keptPassword = async (file: string): Promise<string> => {
  if (!existsSync(file)) await writeWhole(file, randomBytes(24).toString('base64url'))
  return readFile(file, 'utf8')
}
