import { chmod, lchown, lstat, opendir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { privileges } from './users/privileges.ts'

const ALL = 0o700

/**
 * Removes a folder of commands that are over, whoever owns what is in it. Where this process may
 * not pass everywhere it takes the folders to itself first.
 */
export async function removeTree(folder: string): Promise<void> {
  if (!privileges().passesAll) await takeBack(folder).catch(() => undefined)
  await rm(folder, { recursive: true, force: true })
}

const takeBack = async (folder: string): Promise<void> => {
  if (!(await lstat(folder)).isDirectory()) return
  if (privileges().isRoot) await lchown(folder, 0, 0)
  await chmod(folder, ALL)
  for await (const entry of await opendir(folder))
    if (entry.isDirectory()) await takeBack(join(folder, entry.name))
}
