/** Uploads are in the artifact store, so that any master and any worker can read what came in through a master. */
export const UPLOADS = 'uploads'
const UPLOAD_PATH = /^uploads\/[0-9a-f]{16}-[A-Za-z0-9._-]{1,100}$/

/** The key of the artifact store that a `target_file` or a target means, if it is the path of an upload. */
export const uploadKeyOf = (path: string): string | undefined => (UPLOAD_PATH.test(path) ? path : undefined)
