/** Uploads are kept in the artifact store, so that all masters and workers can read them. */
export const UPLOADS = 'uploads'
const UPLOAD_PATH = /^uploads\/[0-9a-f]{16}-[A-Za-z0-9._-]{1,100}$/

/** The artifact store key of an upload, if the path of a `target_file` or target refers to one. */
export const uploadKeyOf = (path: string): string | undefined => (UPLOAD_PATH.test(path) ? path : undefined)
