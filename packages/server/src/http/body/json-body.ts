import type { IncomingMessage } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { AppError } from '@scanfarm/contracts'
import { errorText } from '@scanfarm/platform'
import type { BodyAccount } from './body-account.ts'
import { refuseDeepJson } from './json-depth.ts'

const JSON_TYPE = /^application\/(?:json|[a-z0-9.+-]+\+json)\s*(?:;\s*(.*))?$/i
const UTF8_PARAMETER = /^charset\s*=\s*"?utf-?8"?\s*;?$/i

/** Bodies above this size yield to other requests between the steps of parsing. Many short values take the longest. */
const LARGE_BYTES = 64 * 1024

/** Reads a JSON body of at most `maxBytes`. Throws `AppError` for every invalid body. */
export async function readJson(
  request: IncomingMessage,
  maxBytes: number,
  account?: BodyAccount,
): Promise<unknown> {
  const body = await readBody(request, maxBytes, account)
  const pause = async (): Promise<void> => {
    if (body.length > LARGE_BYTES) await setImmediate()
  }
  // Checked first, because a compressed body would otherwise be reported as invalid UTF-8.
  if (body.length > 0) checkType(request)
  const source = decode(body)
  if (source.trim() === '')
    throw new AppError('invalid_json', 'a JSON body is required, but the body is empty')
  await pause()
  refuseDeepJson(source)
  await pause()
  try {
    const value: unknown = JSON.parse(source)
    await pause()
    return value
  } catch (error) {
    throw new AppError('invalid_json', `the body is not valid JSON: ${errorText(error)}`, { cause: error })
  }
}

const checkType = ({ headers }: IncomingMessage): void => {
  const encoding = headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity')
    throw new AppError('unsupported_media_type', `a body with Content-Encoding ${encoding} is not supported`)
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
export const readBody = async (
  request: IncomingMessage,
  maxBytes: number,
  account?: BodyAccount,
): Promise<Buffer> => {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes)
  if (request.destroyed) throw brokenOff()
  account?.announce(Number(request.headers['content-length'] ?? 0))
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const chunks: Buffer[] = []
  let size = 0
  const stop = (refusal: AppError): void => {
    request.off('data', take)
    request.pause()
    reject(refusal)
  }
  const take = (chunk: Buffer): void => {
    size += chunk.length
    if (size > maxBytes) return stop(tooLarge(maxBytes))
    const refusal = account?.arrived(size)
    if (refusal !== undefined) return stop(refusal)
    chunks.push(chunk)
  }
  request.on('data', take)
  request.on('end', () => resolve(chunks.length === 1 ? (chunks[0] ?? Buffer.of()) : Buffer.concat(chunks)))
  request.on('error', reject)
  request.on('close', () => {
    if (!request.readableEnded) reject(brokenOff())
  })
  return await promise
}

const brokenOff = (): AppError =>
  new AppError('bad_request', 'the client closed the connection before the request was complete')

const decode = (body: Buffer): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch (error) {
    throw new AppError('invalid_json', `the body is not valid UTF-8 at byte ${badByte(body)}`, {
      cause: error,
    })
  }
}

/** The index after the longest valid prefix. */
const badByte = (body: Buffer): number => {
  const clean = Buffer.from(body.toString('utf8'), 'utf8')
  let at = 0
  while (at < body.length && body[at] === clean[at]) at += 1
  return at
}
