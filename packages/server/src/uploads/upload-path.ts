import { randomBytes } from 'node:crypto'
import { UPLOADS } from '@scanfarm/contracts'

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
