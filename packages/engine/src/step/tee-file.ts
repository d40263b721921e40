import type { Mask } from '../secrets/mask.ts'
import { openNew, openToAppend, runPath, type FileScope } from '@scanfarm/functions'

export interface TeeFile {
  readonly write: (chunk: Buffer) => Promise<void>
  close(): Promise<void>
}

/**
 * Opens a file that receives a copy of an output, creating its folders. A relative path starts in the run's folder.
 * Secrets are masked. Writes are sequential, and each waits for the disk.
 */
export const teeFile = async (
  path: string,
  files: FileScope,
  mask: Mask,
  mode: 'new' | 'append' = 'new',
): Promise<TeeFile> => {
  const file = await (mode === 'new' ? openNew : openToAppend)(runPath(path, files), files)
  const chunks = mask.chunks()
  let last: Promise<unknown> = Promise.resolve()
  return {
    write: async (chunk) => {
      const turn = last.then(async () => await file.write(chunks.push(chunk)))
      last = turn.catch(() => undefined)
      await turn
    },
    close: async () => {
      await last
      await file.write(chunks.end())
      await file.close()
    },
  }
}
