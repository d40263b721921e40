import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import busboy from 'busboy'
import { AppError } from '@scanfarm/contracts'
import { LineCounter } from './line-counter.ts'

const FIELD = 'file'
const MAX_FIELDS = 20
const MAX_FIELD_BYTES = 64 * 1024

export interface IncomingFile {
  /** As the client named it: not to be trusted. */
  readonly filename: string
  /** Fails with `payload_too_large` beyond the limit, and when the client goes away. */
  readonly body: Readable
  /** Lines in what has passed so far; all of them once `body` has ended. */
  lines(): number
}

/**
 * Reads a multipart form with one file in the field `file` and hands it on as a stream. Resolves with what `use` made
 * of it, once the whole form has been read; when the form is refused, only after `use` has settled.
 */
export async function receiveFile<T>(
  request: IncomingMessage,
  maxBytes: number,
  use: (file: IncomingFile) => Promise<T>,
): Promise<T> {
  const form = openForm(request, maxBytes)
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>()
  let used: Promise<T> | undefined
  let body: LineCounter | undefined
  const fail = (error: AppError): void => {
    request.unpipe(form)
    form.destroy()
    body?.destroy(error)
    reject(error)
  }
  form.on('file', (field, stream, { filename }) => {
    stream.on('error', (error) => fail(malformed(error)))
    if (field !== FIELD || used !== undefined) {
      stream.resume()
      return fail(wrongField(field))
    }
    const counter = (body = new LineCounter())
    // Whoever uses it sees the error; until somebody does, it must not end the process.
    counter.on('error', () => undefined)
    stream.on('limit', () => fail(tooLarge(maxBytes)))
    used = use({ filename: filename ?? '', body: stream.pipe(counter), lines: () => counter.lines })
    used.catch(reject)
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
      limits: { fileSize: maxBytes + 1, files: 2, fields: MAX_FIELDS, fieldSize: MAX_FIELD_BYTES },
    })
  } catch (error) {
    throw malformed(error)
  }
}

const malformed = (error: unknown): AppError =>
  new AppError(
    'bad_request',
    `the form cannot be read: ${Error.isError(error) ? error.message : String(error)}`,
    { cause: error },
  )

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
