import type { IncomingMessage } from 'node:http'
import { PassThrough, type Readable } from 'node:stream'
import busboy from 'busboy'
import { AppError } from '@scanfarm/contracts'

const FIELD = 'file'
const MAX_FIELDS = 20

export interface IncomingFile {
  /** As the client named it: not to be trusted. */
  readonly filename: string
  /** Fails with `payload_too_large` beyond the limit, and when the client goes away. */
  readonly body: Readable
}

/**
 * Reads a multipart form with one file in the field `file` and hands it on as a stream. Resolves with what `use` made
 * of it, once the whole form has been read.
 */
export async function receiveFile<T>(
  request: IncomingMessage,
  maxBytes: number,
  use: (file: IncomingFile) => Promise<T>,
): Promise<T> {
  const form = openForm(request, maxBytes)
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>()
  let used: Promise<T> | undefined
  let body: PassThrough | undefined
  const fail = (error: Error): void => {
    request.unpipe(form)
    body?.destroy(error)
    reject(error)
  }
  form.on('file', (field, stream, { filename }) => {
    if (field !== FIELD || used !== undefined) {
      stream.resume()
      return fail(wrongField(field))
    }
    const output = (body = new PassThrough())
    stream.on('limit', () => fail(tooLarge(maxBytes)))
    stream.pipe(output)
    used = use({ filename: filename ?? '', body: output })
    used.catch(fail)
  })
  form.on('error', (error: unknown) => fail(malformed(error)))
  form.on('close', resolve)
  request.on('close', () => {
    if (!request.complete) fail(new AppError('bad_request', 'the upload was broken off'))
  })
  request.pipe(form)
  try {
    await ended
    if (used === undefined) throw missing()
    return await used
  } catch (error) {
    // What was begun must be over before the refusal is told.
    await used?.catch(() => undefined)
    throw error
  }
}

const openForm = (request: IncomingMessage, maxBytes: number): busboy.Busboy => {
  const type = request.headers['content-type'] ?? ''
  if (!/^multipart\/form-data\s*;/i.test(type))
    throw new AppError(
      'unsupported_media_type',
      'send a form with the header Content-Type: multipart/form-data and the file in the field "file"',
    )
  try {
    return busboy({
      headers: request.headers,
      // Busboy tells of the limit once it is reached, so one byte more is let in than may be.
      limits: { fileSize: maxBytes + 1, files: 2, fields: MAX_FIELDS, fieldSize: 64 * 1024 },
    })
  } catch (error) {
    throw malformed(error)
  }
}

const malformed = (error: unknown): AppError =>
  new AppError('bad_request', `the form cannot be read: ${error instanceof Error ? error.message : error}`, {
    cause: error,
  })

const tooLarge = (maxBytes: number): AppError =>
  new AppError('payload_too_large', `the file is larger than ${maxBytes} bytes`)

const wrongField = (field: string): AppError =>
  new AppError('invalid_input', `send one file, in the field "${FIELD}"`, {
    details: [{ path: `/${field}`, message: `is not the field "${FIELD}", or there is a second file` }],
  })

const missing = (): AppError =>
  new AppError('invalid_input', `send a file in the field "${FIELD}"`, {
    details: [{ path: `/${FIELD}`, message: 'is required' }],
  })
