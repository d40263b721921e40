import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

const codeOf = (error: unknown): unknown => (Error.isError(error) && 'code' in error ? error.code : undefined)

const makeOne = async (path: string): Promise<void> => {
  try {
    await mkdir(path)
  } catch (error) {
    const exists = codeOf(error) === 'EEXIST' && (await stat(path)).isDirectory()
    if (!exists) throw error
  }
}

/**
 * Creates a folder and the missing ones above it. `mkdir` of Node with `recursive` never returns on file
 * systems that refuse new folders with ENOENT, like /proc.
 */
export const makeFolder = async (path: string): Promise<void> => {
  try {
    await makeOne(path)
    return
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' || dirname(path) === path) throw error
  }
  await makeFolder(dirname(path))
  try {
    await makeOne(path)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
    throw new Error('its file system does not allow new folders')
  }
}
