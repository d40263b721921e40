import { constants } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { codeOf } from '../fault.ts'
import type { RunPlace } from './hold.ts'
import { openFile } from './run-folder.ts'

/** Lines of a text file one by one, whatever its size; nothing for a file that is not there. */
export const linesOf = async function* (path: string, place: RunPlace): AsyncGenerator<string> {
  try {
    const stream = (await openFile(path, place, constants.O_RDONLY)).createReadStream()
    try {
      for await (const line of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }))
        yield line
    } finally {
      stream.destroy()
    }
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}

export const isMissing = (error: unknown): boolean =>
  codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR'

/** Non-empty lines. Counts bytes, so that a file of millions of lines takes no memory. */
export const countLines = async (path: string, place: RunPlace): Promise<number> => {
  let count = 0
  let filled = false
  try {
    for await (const chunk of (await openFile(path, place, constants.O_RDONLY)).createReadStream()) {
      if (!(chunk instanceof Uint8Array)) continue
      for (const byte of chunk) {
        if (byte === 10) {
          if (filled) count++
          filled = false
        } else if (byte !== 13 && byte !== 32 && byte !== 9) filled = true
      }
    }
  } catch (error) {
    if (!isMissing(error) && !isFolder(error)) throw error
  }
  return count + (filled ? 1 : 0)
}

const isFolder = (error: unknown): boolean => codeOf(error) === 'EISDIR'
