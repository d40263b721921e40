import { AppError, type ErrorBody, type ErrorCode, type FieldError } from '@scanfarm/contracts'
import type { Headers } from './answer.ts'

/** Converts any error to the one that the caller receives; unexpected errors reveal no details. */
export const refusalOf = (error: unknown): AppError => {
  if (error instanceof AppError) return error
  if (error instanceof URIError)
    return new AppError('bad_request', 'the path contains a % that does not begin a valid UTF-8 escape')
  return new AppError('internal', 'an internal error occurred; the log contains it under this request_id', {
    cause: error,
  })
}

export const errorBody = (refusal: AppError, requestId: string): ErrorBody => ({
  error: true,
  message: refusal.message,
  code: refusal.code,
  request_id: requestId,
  details: [...refusal.details],
})

/** RFC 6750, section 3: a request without a token gets no error code. */
const challengeOf = ({ challenge }: AppError): string =>
  `Bearer realm="scanfarm"${challenge === undefined ? '' : `, error="${challenge}"`}`

export const errorHeaders = (refusal: AppError): Headers => ({
  ...(refusal.code === 'unauthorized' ? { 'WWW-Authenticate': challengeOf(refusal) } : {}),
  ...(refusal.retryAfter === undefined ? {} : { 'Retry-After': Math.max(1, Math.ceil(refusal.retryAfter)) }),
})

/** One error for all problems, with the message of the first; undefined if there are none. */
export const fieldRefusal = (
  problems: readonly FieldError[],
  code: ErrorCode = 'invalid_input',
): AppError | undefined => {
  const [first] = problems
  if (first === undefined) return undefined
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : ''
  // Fields are JSON pointers; positions in a file are shown unchanged.
  const place = first.path === '' ? '' : `${first.path.replace(/^\//, '')}: `
  return new AppError(code, `${place}${first.message}${more}`, { details: problems })
}

export const refuse = (problems: readonly FieldError[], code?: ErrorCode): void => {
  const refusal = fieldRefusal(problems, code)
  if (refusal !== undefined) throw refusal
}

/** The error for one field; `/name` is the path of a field at the top. */
export const wrongField = (path: string, message: string): AppError =>
  new AppError('invalid_input', `${path.slice(1)}: ${message}`, { details: [{ path, message }] })

/** What a path names does not exist. `hint`: where to look. */
export const missing = (kind: string, ref: string, hint = ''): AppError =>
  new AppError('not_found', `there is no ${kind} ${JSON.stringify(ref)}${hint}`)

/** The record that a path names; throws if there is none. */
export const found = <T>(kind: string, ref: string, record: T | undefined): T => {
  if (record === undefined) throw missing(kind, ref)
  return record
}

/** The problem of a field, if there is one: `problemAt('/port', port > MOST && 'is too large')`. */
export const problemAt = (path: string, message: string | false | undefined): FieldError[] =>
  message === undefined || message === false ? [] : [{ path, message }]

const MAX_PROBLEMS = 50

const isPlain = (text: string): boolean => !text.includes('\0') && text.isWellFormed()

/** Text in a JSON value that Postgres cannot store, by JSON pointer. To remove it would be a silent change. */
export const textProblems = (value: unknown): FieldError[] => {
  const problems: FieldError[] = []
  const waiting: { value: unknown; path: string }[] = [{ value, path: '' }]
  const check = (text: string, path: string): void => {
    if (!isPlain(text)) problems.push({ path, message: 'must not contain NUL or a lone surrogate' })
  }
  for (let next = waiting.pop(); next !== undefined && problems.length < MAX_PROBLEMS; next = waiting.pop()) {
    const { value: inner, path } = next
    if (typeof inner === 'string') check(inner, path)
    if (typeof inner !== 'object' || inner === null) continue
    for (const [key, item] of Object.entries(inner)) {
      const place = `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
      check(key, place)
      if (typeof item === 'string') check(item, place)
      else if (typeof item === 'object') waiting.push({ value: item, path: place })
    }
  }
  return problems
}
