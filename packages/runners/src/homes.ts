import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { chmod, cp, lchown, lstat, mkdir, readdir, rename, rm, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Owner } from '@scanfarm/contracts'

const PASSAGE = 0o711

/** Children first: this program may not be able to open a folder after it changed its owner. */
const changeOwner = async (path: string, { uid, gid }: Owner): Promise<void> => {
  if ((await lstat(path)).isDirectory())
    for (const name of await readdir(path)) await changeOwner(join(path, name), { uid, gid })
  await lchown(path, uid, gid)
}

/**
 * Creates a home from a skeleton unless the home exists. Entries whose names begin with a dot, which tools change, are
 * copied; others, like templates, are linked, which keeps a home small. Several programs may call this at once.
 */
export async function makeHome(
  home: string,
  skeleton: string,
  { owner, mode = 0o700 }: { owner?: Owner | undefined; mode?: number } = {},
): Promise<void> {
  if ((await lstat(home).catch(() => undefined)) !== undefined) return
  await mkdir(dirname(home), { recursive: true, mode: PASSAGE })
  const draft = `${home}.${randomUUID()}.new`
  await mkdir(draft, { mode: 0o700 })
  try {
    for (const name of await readdir(skeleton).catch(() => []))
      if (name.startsWith('.')) await cp(join(skeleton, name), join(draft, name), COPY)
      else await symlink(join(skeleton, name), join(draft, name))
    await chmod(draft, mode)
    if (owner !== undefined) await changeOwner(draft, owner)
    await rename(draft, home).catch(async (error: unknown) => {
      // Another program created it first.
      if ((await lstat(home).catch(() => undefined)) === undefined) throw error
      await rm(draft, { recursive: true, force: true })
    })
  } catch (error) {
    await rm(draft, { recursive: true, force: true })
    throw error
  }
}

const COPY = { recursive: true, verbatimSymlinks: true, mode: constants.COPYFILE_FICLONE } as const
