import { createHash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chown, mkdir, readFile, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { canTraverse, type Account } from './account.ts'
import { closeDataDir, makePassable, OWNER_ONLY, PRIVATE } from './private-folder.ts'

const OPEN_PARENT = '/var/lib/scanfarm-services'

/**
 * Makes the data folder if it is missing, and closes one that is open: to all others, but passable for the services
 * that root runs as others.
 */
export const makeDataDir = async (dataDir: string): Promise<string> => {
  if (process.getuid?.() === 0) await makePassable(dataDir)
  else await mkdir(dataDir, { recursive: true, mode: PRIVATE })
  const folder = await realpath(dataDir)
  await closeDataDir(folder)
  return folder
}

/**
 * The folder for embedded services. It lies in the data folder, unless that is closed to the account they run as (such
 * as below `/root`): then in a place of its own, to which a link in the data folder points.
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

/** Removes a data folder with all that belongs to it. Its services must have been stopped. */
export const removeDataDir = async (dataDir: string): Promise<void> => {
  const services = await realpath(join(dataDir, 'services')).catch(() => undefined)
  if (services !== undefined) await rm(services, { recursive: true, force: true })
  await rm(dataDir, { recursive: true, force: true })
}

/** A folder that belongs to the account alone. */
export const makeOwnFolder = async (folder: string, { drop, uid, gid }: Account): Promise<string> => {
  await mkdir(folder, { recursive: true, mode: PRIVATE })
  if (drop) await chown(folder, uid, gid)
  return folder
}

/** Readable by this program's user alone. A program that is killed meanwhile leaves the file whole, or none. */
export const writeWhole = async (file: string, text: string): Promise<void> => {
  const unfinished = `${file}.unfinished`
  await writeFile(unfinished, text, { mode: OWNER_ONLY })
  await rename(unfinished, file)
}

/** The password kept in this file; the first caller makes it. Call under the folder's lock. */
export const keptPassword = async (file: string): Promise<string> => {
  if (!existsSync(file)) await writeWhole(file, randomBytes(24).toString('base64url'))
  return readFile(file, 'utf8')
}
