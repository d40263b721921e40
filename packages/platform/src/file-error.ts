import { errorText } from './error-text.ts'

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  ENOTDIR: 'a part of its path is not a directory',
  EISDIR: 'it is a directory',
  EEXIST: 'it exists already',
  EACCES: 'this user has no permission',
  EPERM: 'this user has no permission',
  EROFS: 'its file system is read-only',
  ENOSPC: 'no space is left on its disk',
  EDQUOT: 'the disk quota of this user is used up',
  ENAMETOOLONG: 'its name is too long',
  ELOOP: 'its symbolic links lead to themselves',
}

/** Why a file could not be read or written, for people: without the name of the system call and the path. */
export const fileErrorText = (error: unknown): string => {
  const code = Error.isError(error) && 'code' in error ? String(error.code) : ''
  return REASONS[code] ?? errorText(error)
}
