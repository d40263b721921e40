import { randomUUID } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { uploadKeyOf, type ArtifactStore } from '@scanfarm/contracts'
import type { Session } from '../slots/session.ts'
import type { RunPlace } from './run-place.ts'

/**
 * Copies an upload that is the target of a run to the folder of its workspace, which every runner shares or copies.
 * Resolves to the absolute path, or to undefined when the target is not an upload. Rejects when the upload is gone.
 */
export const fetchTarget = async (
  { run, folders, signal }: Session,
  place: RunPlace,
  artifacts: Pick<ArtifactStore, 'get'>,
): Promise<string | undefined> => {
  const key = uploadKeyOf(run.target)
  if (key === undefined) return undefined
  const found = await artifacts.get(key)
  if (found === undefined)
    throw new Error(`the target ${run.target} does not exist; the retention of uploads may have removed it`)
  const owner = await place.open()
  const path = join(folders.workspace, basename(key))
  // Written under a fresh name first: another run of the workspace may have put a link at `path`.
  const scratch = `${path}.${randomUUID()}.tmp`
  try {
    const file = await open(scratch, 'wx', 0o600)
    try {
      if (owner !== undefined) await file.chown(owner.uid, owner.gid)
      await file.writeFile(found.body, { signal })
    } finally {
      await file.close()
    }
    await rename(scratch, path)
  } catch (error) {
    await rm(scratch, { force: true })
    throw error
  }
  return path
}
