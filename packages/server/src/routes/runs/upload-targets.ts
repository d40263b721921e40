import { randomBytes } from 'node:crypto'
import { UPLOADS } from '@scanfarm/contracts'
import { Type } from 'typebox'
import { route } from '../../http/route.ts'
import { receiveFile } from '../../http/body/receive-file.ts'

export const uploadFile = route(
  {
    endpoint: 'POST /upload-file',
    summary: 'Upload a file of targets',
    description: 'Send the returned `path` as `target_file` to POST /runs, on any master.',
    role: 'operator',
    upload: { description: 'The file, one target per line' },
    responses: {
      200: Type.Object({
        message: Type.String(),
        filename: Type.String({ description: 'The name under which the file was stored' }),
        path: Type.String({ description: 'For target_file' }),
        size: Type.Integer({ description: 'Bytes' }),
        lines: Type.Integer(),
      }),
    },
    errors: ['invalid_input', 'payload_too_large', 'unsupported_media_type'],
  },
  async ({ artifacts, limits }, { http }) =>
    receiveFile(http.stream, limits.uploadBytes, async ({ filename: given, body, lines }) => {
      const filename = newUploadName(given)
      const path = uploadPath(filename)
      const { size } = await artifacts.put(path, body)
      return { message: 'File uploaded', filename, path, size, lines: lines() }
    }),
)

const ID_BYTES = 8
const MAX_NAME = 100

/** A unique name that still shows the name given by the caller. */
export const newUploadName = (given: string): string => {
  const base = given.split(/[/\\]/).at(-1) ?? ''
  const safe = base.replaceAll(/[^A-Za-z0-9._-]/g, '_').slice(-MAX_NAME)
  return `${randomBytes(ID_BYTES).toString('hex')}-${safe === '' ? 'file' : safe}`
}

/** Returned to the caller as `path`; also the key in the artifact store. */
export const uploadPath = (name: string): string => `${UPLOADS}/${name}`
