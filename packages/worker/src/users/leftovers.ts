import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { lstatSync, readdirSync, statSync } from 'node:fs'
import type { Owner } from '@scanfarm/contracts'

/** Folders in which every user may create files. */
const OPEN_FOLDERS = ['/tmp', '/var/tmp', '/dev/shm']

/** `$1`: the uid. Makes folders writable first, so that their content can be removed. */
const SCRIPT = `uid=$1
mine() { find ${OPEN_FOLDERS.join(' ')} -mindepth 1 -maxdepth 1 -user "$uid" "$@"; }
mine -type d -exec chmod -R u+rwX {} +
mine -exec rm -rf {} +
exit 0`

/** The owners of the entries of each folder, and the folder's time of change when they were read, in ns. */
const known = new Map<string, { readonly changed: bigint; readonly owners: ReadonlySet<number> }>()
/** The clock of files ticks this often or more: a folder that changed later may change again without a new time. */
const TICK_NS = 20_000_000n
const NS_PER_MS = 1_000_000n

const owns = ({ uid }: Owner, folder: string): boolean => {
  try {
    const { mtimeNs: changed } = statSync(folder, { bigint: true })
    const before = known.get(folder)
    if (before?.changed === changed) return before.owners.has(uid)
    const now = BigInt(Date.now()) * NS_PER_MS
    const owners = ownersIn(folder)
    if (changed < now - TICK_NS) known.set(folder, { changed, owners })
    return owners.has(uid)
  } catch {
    return false
  }
}

const ownersIn = (folder: string): Set<number> =>
  new Set(
    readdirSync(folder, { encoding: 'buffer' }).flatMap(
      (name) =>
        lstatSync(Buffer.concat([Buffer.from(`${folder}/`), name]), { throwIfNoEntry: false })?.uid ?? [],
    ),
  )

/** Removes the files of a user without processes from folders that all users share, as that user. */
export const removeLeftovers = async (user: Owner): Promise<void> => {
  if (!OPEN_FOLDERS.some((folder) => owns(user, folder))) return
  const child = spawn('/bin/sh', ['-c', SCRIPT, 'sh', String(user.uid)], {
    ...user,
    env: { PATH: '/usr/bin:/bin' },
    cwd: '/',
    stdio: 'ignore',
  })
  await once(child, 'exit')
}
