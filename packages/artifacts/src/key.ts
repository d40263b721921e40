const MAX_KEY_LENGTH = 900
const PART = /^[A-Za-z0-9._-]{1,200}$/

/** Whether this is a valid key; false for files that other programs put into the store. */
export const isKey = (key: string): boolean =>
  key.length <= MAX_KEY_LENGTH &&
  key.split('/').every((part) => PART.test(part) && part !== '.' && part !== '..')

/** Throws for an invalid key, which could escape the store or which S3 rejects: it is a bug of the caller. */
export function checkKey(key: string): void {
  if (!isKey(key))
    throw new TypeError(
      `not an artifact key: ${JSON.stringify(key.slice(0, 200))}; parts have 1 to 200 of A-Z a-z 0-9 . _ - and are neither "." nor ".."`,
    )
}

/** A file name as part of a key: readable, not unique. */
export function keyPart(name: string): string {
  const safe = name
    .replaceAll(/[^A-Za-z0-9._-]+/g, '_')
    .replace(/^\.+/, '_')
    .slice(-120)
  return safe === '' ? '_' : safe
}
