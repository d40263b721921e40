import { Type } from 'typebox'
import { route } from '../http/route.ts'
import { receiveFile } from '../uploads/receive-file.ts'
import { newUploadName, uploadPath } from '../uploads/upload-path.ts'

export const uploadFile = route(
  {
    method: 'post',
    path: '/upload-file',
    tag: 'Runs',
    summary: 'Upload a file of targets',
    description: 'The `path` of the answer is what `target_file` of POST /runs takes, on any master.',
    role: 'operator',
    upload: { description: 'The file, one target per line' },
    responses: {
      200: Type.Object({
        message: Type.String(),
        filename: Type.String({ description: 'The name under which it was stored' }),
        path: Type.String({ description: 'For target_file' }),
        size: Type.Integer({ description: 'Bytes' }),
        lines: Type.Integer(),
      }),
    },
    errors: ['invalid_input', 'payload_too_large', 'unsupported_media_type'],
  },
  async ({ artifacts, config }, { http }) =>
    receiveFile(http.stream, config.uploads.maxBytes, async ({ filename: given, body, lines }) => {
      const filename = newUploadName(given)
      const path = uploadPath(filename)
      const { size } = await artifacts.put(path, body)
      return { message: 'File uploaded', filename, path, size, lines: lines() }
    }),
)
