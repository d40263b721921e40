import { basename, join } from 'node:path'
import { uploadKeyOf, type ArtifactStore } from '@scanfarm/contracts'
import { Folder } from '@scanfarm/paths'
import type { Session } from '../slots/session.ts'
import type { WorkingDirectory } from './working-directory.ts'

/**
 * Copies an upload that is the target of a run to the folder of its workspace, which every runner shares or copies.
 * Resolves to the absolute path, or to undefined when the target is not an upload. Rejects when the upload is gone.
 */
export const fetchTarget = async (
  { run, folders, signal }: Session,
  directory: WorkingDirectory,
  artifacts: Pick<ArtifactStore, 'get'>,
): Promise<string | undefined> => {
  const key = uploadKeyOf(run.target)
  if (key === undefined) return undefined
  const found = await artifacts.get(key)
  if (found === undefined)
    throw new Error(`the target ${run.target} does not exist; the retention of uploads may have removed it`)
  const owner = await directory.open()
  const name = basename(key)
  using workspace = Folder.at(folders.workspace)
  await workspace.replace(name, async (file) => await file.writeFile(found.body, { signal }), {
    owner,
    mode: 0o600,
  })
  return join(folders.workspace, name)
}
