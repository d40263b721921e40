import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { chmod, cp, lchown, lstat, mkdir, readdir, rename, rm, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'

interface User {
  readonly uid: number
  readonly gid: number
}

const PASSAGE = 0o711

/** Children first: what is given away may be closed to this program from then on. */
const give = async (path: string, { uid, gid }: User): Promise<void> => {
  if ((await lstat(path)).isDirectory())
    for (const name of await readdir(path)) await give(join(path, name), { uid, gid })
  await lchown(path, uid, gid)
}

/**
 * Makes a home out of a skeleton unless there is one: entries whose names begin with a dot, which tools change, are
 * copied; others, such as templates, are links to those of the skeleton, so that a home is small. Safe to call at once
 * from several programs.
 */
export async function makeHome(
  home: string,
  skeleton: string,
  { owner, mode = 0o700 }: { owner?: User | undefined; mode?: number } = {},
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
    if (owner !== undefined) await give(draft, owner)
    await rename(draft, home).catch(async (error: unknown) => {
      // Another program was quicker.
      if ((await lstat(home).catch(() => undefined)) === undefined) throw error
      await rm(draft, { recursive: true, force: true })
    })
  } catch (error) {
    await rm(draft, { recursive: true, force: true })
    throw error
  }
}

const COPY = { recursive: true, verbatimSymlinks: true, mode: constants.COPYFILE_FICLONE } as const
