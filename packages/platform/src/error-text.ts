const MAX_CAUSES = 5
/** A message may contain the value that caused the error. */
const MAX_CHARS = 64 * 1024

/** A failed connection to several addresses has an empty message in Node: the messages of its parts are used. */
const own = (error: Error): string => {
  if (error.message !== '') return error.message
  return 'errors' in error && Array.isArray(error.errors)
    ? error.errors.map(errorText).join(', ')
    : error.name
}

/** An error as one line of text: the messages along its chain of causes. */
export const errorText = (error: unknown): string => {
  const texts: string[] = []
  let at: unknown = error
  while (Error.isError(at) && texts.length < MAX_CAUSES) {
    const text = own(at)
    if (!texts.some((known) => known.includes(text))) texts.push(text)
    at = at.cause
  }
  const text = texts.length === 0 ? String(error) : texts.join(': ')
  return text.length <= MAX_CHARS ? text : `${text.slice(0, MAX_CHARS - 1)}…`
}

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

/** Why a file could not be read or written, without the system call and the path. */
export const fileErrorText = (error: unknown): string => {
  const code = Error.isError(error) && 'code' in error ? String(error.code) : ''
  return REASONS[code] ?? errorText(error)
}
