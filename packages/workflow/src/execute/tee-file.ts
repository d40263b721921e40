import type { Mask } from '../secrets/mask.ts'
import { openNew, runPath } from '../functions/files.ts'
import type { RunPlace } from '../functions/allowed.ts'

export interface TeeFile {
  readonly write: (chunk: Buffer) => Promise<void>
  close(): Promise<void>
}

/** A file that gets a copy of an output, folders above it made; a relative path begins in the run's folder. Secrets are masked. Writes are in order; each waits for the disk. */
export const teeFile = async (path: string, place: RunPlace, mask: Mask): Promise<TeeFile> => {
  const file = await openNew(runPath(path, place), place)
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
