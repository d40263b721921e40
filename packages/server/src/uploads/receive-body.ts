import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { AppError } from '@scanfarm/contracts'
import { receiveFile } from './receive-file.ts'

/**
 * A file that is sent as the body itself, or as the field `file` of a multipart form. `use` gets its bytes, at most
 * `maxBytes`, and the name of the file, untrusted and `""` unless a form gave one; reading more fails with
 * `payload_too_large`.
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
    throw new AppError('unsupported_media_type', `bodies with Content-Encoding ${encoding} are not read`)
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
