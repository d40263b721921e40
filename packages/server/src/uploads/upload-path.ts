import { randomBytes } from 'node:crypto'

/** Uploads lie in the artifact store, so that any master can read what came in through another. */
export const UPLOADS = 'uploads'
const UPLOAD_PATH = /^uploads\/[0-9a-f]{16}-[A-Za-z0-9._-]{1,100}$/
const ID_BYTES = 8
const MAX_NAME = 100

/** A name of its own in the store that still shows what the caller called the file. */
export const newUploadName = (given: string): string => {
  const base = given.split(/[/\\]/).at(-1) ?? ''
  const safe = base.replaceAll(/[^A-Za-z0-9._-]/g, '_').slice(-MAX_NAME)
  return `${randomBytes(ID_BYTES).toString('hex')}-${safe === '' ? 'file' : safe}`
}

/** What the caller gets as `path`, and the key in the artifact store as well. */
export const uploadPath = (name: string): string => `${UPLOADS}/${name}`

/** The key of the artifact store that a `target_file` means, if it is the path of an upload. */
export const uploadKeyOf = (path: string): string | undefined => (UPLOAD_PATH.test(path) ? path : undefined)
