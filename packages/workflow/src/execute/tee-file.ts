import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeFolder } from '../functions/files.ts'
import type { Owner } from './surroundings.ts'

export interface TeeFile {
  readonly write: (chunk: Buffer) => Promise<void>
  close(): Promise<void>
}

/** A file that gets a copy of an output, folders above it made. Writes are in order; each waits for the disk. */
export const teeFile = async (path: string, owner: Owner | undefined): Promise<TeeFile> => {
  await makeFolder(dirname(path), { owner })
  const file = await open(path, 'w')
  if (owner !== undefined) await file.chown(owner.uid, owner.gid)
  let last: Promise<unknown> = Promise.resolve()
  return {
    write: async (chunk) => {
      const turn = last.then(async () => await file.write(chunk))
      last = turn.catch(() => undefined)
      await turn
    },
    close: async () => {
      await last
      await file.close()
    },
  }
}
