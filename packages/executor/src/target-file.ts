import { randomUUID } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { uploadKeyOf, type ArtifactStore } from '@scanfarm/contracts'
import type { Session } from './session.ts'

/**
 * An upload that is the target of a run becomes a file in the folder of its workspace, where commands find it on every
 * runner. Answers its absolute path, `undefined` for any other target, and rejects when the upload is gone.
 */
export const fetchTarget = async (
  { run, folders, lease, signal }: Session,
  artifacts: Pick<ArtifactStore, 'get'>,
): Promise<string | undefined> => {
  const key = uploadKeyOf(run.target)
  if (key === undefined) return undefined
  const found = await artifacts.get(key)
  if (found === undefined)
    throw new Error(`the target ${run.target} names no upload; it may have been removed after its time`)
  const path = join(folders.workspace, basename(key))
  // Under a new name first: commands of other runs of the workspace may have put a link where the file is to be.
  const scratch = `${path}.${randomUUID()}.tmp`
  try {
    const file = await open(scratch, 'wx', 0o600)
    try {
      if (lease?.owner !== undefined) await file.chown(lease.owner.uid, lease.owner.gid)
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
