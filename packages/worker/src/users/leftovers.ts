import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { lstatSync, readdirSync } from 'node:fs'
import type { Owner } from './uids.ts'

/** Folders in which every user may create files. */
const OPEN_FOLDERS = ['/tmp', '/var/tmp', '/dev/shm']

/** `$1`: the uid. Makes folders writable first, so that their content can be removed. */
const SCRIPT = `uid=$1
mine() { find ${OPEN_FOLDERS.join(' ')} -mindepth 1 -maxdepth 1 -user "$uid" "$@"; }
mine -type d -exec chmod -R u+rwX {} +
mine -exec rm -rf {} +
exit 0`

const owns = ({ uid }: Owner, folder: string): boolean => {
  try {
    return readdirSync(folder, { encoding: 'buffer' }).some(
      (name) =>
        lstatSync(Buffer.concat([Buffer.from(`${folder}/`), name]), { throwIfNoEntry: false })?.uid === uid,
    )
  } catch {
    return false
  }
}

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
