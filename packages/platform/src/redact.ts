import { Secret } from './secret.ts'

const MASK = '***'
const SENSITIVE_NAME =
  /pass(word|wd|phrase)?$|secret|token$|authorization|cookie|api[-_]?key|private[-_]?key|credential/i
const URL_CREDENTIALS = /(:\/\/[^\s/:@]{0,256}):[^\s/@]{1,1024}@/g
/** A token in place of the user name. */
const URL_TOKEN = /(:\/\/)[^\s/:@]{1,1024}@/g
const FARM_TOKEN = /\bsfm_[A-Za-z0-9_-]{8,}/g
const JSON_WEB_TOKEN = /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{2,}\.[A-Za-z0-9_-]*/g
/** Assignments in connection strings, queries of URLs and commands of services. */
const ASSIGNED =
  /\b((?:pg)?pass(?:word|wd|phrase)?|secret|(?:access_|auth_)?token|api[-_]?key|requirepass|masterauth)(\s*=\s*|["']\s*:\s*["']?|(?<=requirepass|masterauth) )[^\s&;,"']+/gi
const BEARER = /\b(bearer\s+)[A-Za-z0-9._~+/-]{8,}=*/gi
const MAX_DEPTH = 6
const MAX_ITEMS = 100

const MAX_CHARS = 64 * 1024

const redactText = (text: string): string =>
  (text.length <= MAX_CHARS ? text : `${text.slice(0, MAX_CHARS - 1)}…`)
    .replace(URL_CREDENTIALS, `$1:${MASK}@`)
    .replace(URL_TOKEN, `$1${MASK}@`)
    .replace(BEARER, `$1${MASK}`)
    .replace(FARM_TOKEN, `sfm_${MASK}`)
    .replace(JSON_WEB_TOKEN, MASK)
    .replace(ASSIGNED, `$1$2${MASK}`)

const redactError = (error: Error, depth: number): Record<string, unknown> => ({
  name: error.name,
  message: redactText(error.message),
  ...('code' in error ? { code: error.code } : {}),
  ...(error.stack === undefined ? {} : { stack: redactText(error.stack) }),
  ...(error.cause === undefined ? {} : { cause: redactValue(error.cause, depth + 1) }),
  ...(error instanceof AggregateError ? { errors: redactValue(error.errors, depth + 1) } : {}),
})

const redactValue = (value: unknown, depth: number): unknown => {
  if (typeof value === 'string') return redactText(value)
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  if (value instanceof Secret) return MASK
  if (value instanceof Error) return redactError(value, depth)
  if (depth > MAX_DEPTH) return '[deep]'
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((item) => redactValue(item, depth + 1))
  return redactFields(value as Record<string, unknown>, depth + 1)
}

const redactFields = (fields: Record<string, unknown>, depth: number): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      SENSITIVE_NAME.test(name) && value !== undefined && value !== null ? MASK : redactValue(value, depth),
    ]),
  )

/** Masks secrets, converts errors to plain objects, and limits the depth and the length of lists and texts. */
export const redact = (fields: Record<string, unknown>): Record<string, unknown> => redactFields(fields, 0)
