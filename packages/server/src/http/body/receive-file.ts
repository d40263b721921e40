import type { IncomingMessage } from 'node:http'
import { Transform, type Readable } from 'node:stream'
import { AppError } from '@scanfarm/contracts'
import { errorText } from '@scanfarm/platform'
import busboy from 'busboy'

const FIELD = 'file'
const MAX_FIELDS = 20
const MAX_FIELD_BYTES = 64 * 1024

export interface IncomingFile {
  /** The name that the client sent; not trusted. */
  readonly filename: string
  /** Fails with `payload_too_large` beyond the limit, and if the client disconnects. */
  readonly body: Readable
  /** Lines in the bytes read so far; all lines once `body` has ended. */
  lines(): number
}

/**
 * Reads a multipart form with one file in the field `file` and passes it to `use` as a stream. Resolves with the result
 * of `use` once the whole form has been read; if the form is refused, it rejects after `use` has settled.
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
    // `use` handles the error; before it listens, the error must not end the process.
    counter.on('error', () => undefined)
    stream.on('limit', () => fail(tooLarge(maxBytes)))
    used = use({ filename: filename ?? '', body: stream.pipe(counter), lines: () => counter.lines })
    used.catch(reject)
  })
  form.on('error', (error: unknown) => fail(malformed(error)))
  form.on('close', resolve)
  request.on('close', () => {
    if (!request.complete)
      fail(new AppError('bad_request', 'the client closed the connection during the upload'))
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
      // Busboy reports the limit when it is reached, so the limit is one byte higher.
      limits: { fileSize: maxBytes + 1, files: 2, fields: MAX_FIELDS, fieldSize: MAX_FIELD_BYTES },
    })
  } catch (error) {
    throw malformed(error)
  }
}

const malformed = (error: unknown): AppError =>
  new AppError('bad_request', `the form cannot be read: ${errorText(error)}`, { cause: error })

const tooLarge = (maxBytes: number): AppError =>
  new AppError('payload_too_large', `the file is larger than ${maxBytes} bytes`)

const wrongField = (field: string): AppError =>
  new AppError('invalid_input', `send one file, in the field "${FIELD}"`, {
    details: [{ path: `/${field}`, message: `is not the field "${FIELD}", or is a second file` }],
  })

const missing = (): AppError =>
  new AppError('invalid_input', `send a file in the field "${FIELD}"`, {
    details: [{ path: `/${FIELD}`, message: 'is required' }],
  })

/**
 * Reads a file that is sent as the body itself or in the field `file` of a multipart form. `use` receives its bytes, at
 * most `maxBytes`, and its untrusted name, `""` without a form. Reading more fails with `payload_too_large`.
 */
export async function receiveBody<T>(
  request: IncomingMessage,
  maxBytes: number,
  use: (body: AsyncIterable<Uint8Array>, filename: string) => Promise<T>,
): Promise<T> {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = request.headers
  if (/^multipart\/form-data\s*;/i.test(type))
    return receiveFile(request, maxBytes, ({ body, filename }) => use(body, filename))
  if (encoding !== 'identity')
    throw new AppError('unsupported_media_type', `a body with Content-Encoding ${encoding} is not supported`)
  return use(bounded(request, maxBytes), '')
}

async function* bounded(body: Readable, maxBytes: number): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const chunk of body) {
    const bytes = chunk as Buffer
    size += bytes.length
    if (size > maxBytes) throw new AppError('payload_too_large', `the file is larger than ${maxBytes} bytes`)
    yield bytes
  }
}

const NEWLINE = 0x0a

/** Passes bytes through and counts lines; a last line without a newline counts. */
export class LineCounter extends Transform {
  #newlines = 0
  #last = NEWLINE

  override _transform(
    chunk: Buffer,
    _encoding: BufferEncoding,
    done: (error: null, chunk: Buffer) => void,
  ): void {
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) this.#newlines += 1
    this.#last = chunk.at(-1) ?? this.#last
    done(null, chunk)
  }

  get lines(): number {
    return this.#newlines + (this.#last === NEWLINE ? 0 : 1)
  }
}
