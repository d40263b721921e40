import { constants } from 'node:fs'
import { open, realpath, stat } from 'node:fs/promises'
import { isAbsolute, normalize, relative, sep } from 'node:path'
import { AppError, uploadKeyOf, type ArtifactStore } from '@scanfarm/contracts'

const refusal = (message: string): AppError =>
  new AppError('invalid_input', `target_file: ${message}`, {
    details: [{ path: '/target_file', message }],
  })

/**
 * Opens the file that `target_file` names: an upload by the path that its upload answered (on any master), or a file in
 * one of `folders` of this machine. `..`, links and whatever is no regular file are refused.
 */
export async function openTargetFile(
  path: string,
  artifacts: Pick<ArtifactStore, 'get'>,
  folders: readonly string[],
): Promise<AsyncIterable<Buffer>> {
  if (path.includes('\0')) throw refusal('must not contain NUL')
  if (path.split('/').includes('..')) throw refusal('must not contain ".."')
  const key = uploadKeyOf(path)
  if (key !== undefined) {
    const found = await artifacts.get(key)
    if (found === undefined) throw refusal('names no upload; it may have been removed after its time')
    return found.body
  }
  if (!isAbsolute(path)) throw refusal(OUTSIDE)
  return openOnDisk(normalize(path), folders)
}

const OUTSIDE =
  'must be a path that POST /upload-file answered, or lie in a folder of the setting target_file.folders'

const openOnDisk = async (path: string, folders: readonly string[]): Promise<AsyncIterable<Buffer>> => {
  const folder = folders.find((candidate) => isInside(path, candidate))
  if (folder === undefined) throw refusal(OUTSIDE)
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (error: unknown) => {
      throw refusal(reasonOf(error))
    },
  )
  try {
    // The folders of the way could be links too, and could change meanwhile: what is open must be what stands there.
    const straight = (await realpath(folder)) + sep + relative(folder, path)
    const [opened, there] = await Promise.all([file.stat(), stat(straight)])
    const isStraight = (await realpath(path)) === straight
    if (!opened.isFile()) throw refusal('is not a regular file')
    if (!isStraight || opened.ino !== there.ino || opened.dev !== there.dev)
      throw refusal('leads through a symbolic link')
  } catch (error) {
    await file.close()
    throw error instanceof AppError ? error : refusal(reasonOf(error))
  }
  return file.createReadStream()
}

const isInside = (path: string, folder: string): boolean => {
  const way = relative(folder, path)
  return way !== '' && !isAbsolute(way) && way.split(sep)[0] !== '..'
}

const reasonOf = (error: unknown): string => {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'there is no such file'
  if (code === 'ELOOP') return 'leads through a symbolic link'
  return 'cannot be read by the server'
}
