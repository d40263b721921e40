import type { IncomingMessage } from 'node:http'
import { AppError } from '@scanfarm/contracts'
import { refuseDeepJson } from './json-depth.ts'
import { jsonPosition } from './json-position.ts'

const JSON_TYPE = /^application\/(?:json|[a-z0-9.+-]+\+json)\s*(?:;\s*(.*))?$/i
const UTF8_PARAMETER = /^charset\s*=\s*"?utf-?8"?\s*;?$/i

/** Reads a JSON body of at most `maxBytes`. Everything wrong with it is an `AppError`. */
export async function readJson(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  const body = await readBody(request, maxBytes)
  // What is compressed or in another charset is no broken UTF-8, so the headers go first.
  if (body.length > 0) checkType(request)
  const source = decode(body)
  if (source.trim() === '') throw new AppError('invalid_json', 'a JSON body is required, and none was sent')
  refuseDeepJson(source)
  try {
    return JSON.parse(source)
  } catch (error) {
    const { line, column, offset } = jsonPosition(source)
    const what = offset >= source.length ? 'it ends too early' : 'unexpected text'
    throw new AppError(
      'invalid_json',
      `the body is not valid JSON: ${what} at line ${line}, column ${column}`,
      { cause: error },
    )
  }
}

const checkType = ({ headers }: IncomingMessage): void => {
  const encoding = headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity')
    throw new AppError('unsupported_media_type', `bodies with Content-Encoding ${encoding} are not read`)
  const type = JSON_TYPE.exec(headers['content-type'] ?? '')
  const charset = type?.[1]
  if (type === null || (charset !== undefined && charset !== '' && !UTF8_PARAMETER.test(charset)))
    throw new AppError(
      'unsupported_media_type',
      'send the body as JSON in UTF-8, with the header Content-Type: application/json',
    )
}

const tooLarge = (maxBytes: number): AppError =>
  new AppError('payload_too_large', `the body is larger than ${maxBytes} bytes`)

/** The bytes of a body of at most `maxBytes`. */
export const readBody = async (request: IncomingMessage, maxBytes: number): Promise<Buffer> => {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes)
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const chunks: Buffer[] = []
  let size = 0
  const take = (chunk: Buffer): void => {
    size += chunk.length
    if (size <= maxBytes) return void chunks.push(chunk)
    request.off('data', take)
    request.pause()
    reject(tooLarge(maxBytes))
  }
  request.on('data', take)
  request.on('end', () => resolve(chunks.length === 1 ? (chunks[0] ?? Buffer.of()) : Buffer.concat(chunks)))
  request.on('error', reject)
  request.on('close', () => reject(new AppError('bad_request', 'the request was broken off')))
  return promise
}

const decode = (body: Buffer): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch (error) {
    throw new AppError('invalid_json', `the body is not valid UTF-8 at byte ${badByte(body)}`, {
      cause: error,
    })
  }
}

/** The longest valid prefix ends there. */
const badByte = (body: Buffer): number => {
  const clean = Buffer.from(body.toString('utf8'), 'utf8')
  let at = 0
  while (at < body.length && body[at] === clean[at]) at += 1
  return at
}
