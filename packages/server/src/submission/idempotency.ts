import { createHash } from 'node:crypto'
import { AppError } from '@scanfarm/contracts'
import type { Caller } from '../access/caller.ts'

const KEY = /^[\x21-\x7e]{1,255}$/

/** One caller's key never meets another's. Undefined when the header is missing. */
export const idempotencyKey = (header: unknown, caller: Caller): string | undefined => {
  if (header === undefined) return undefined
  if (typeof header === 'string' && KEY.test(header)) return `${caller.kind}:${caller.id}:${header}`
  throw new AppError('bad_request', 'Idempotency-Key must have 1 to 255 printable ASCII characters')
}

/** The same for the same JSON, whatever its white space and the order of its fields. */
export const requestHash = (body: unknown): string =>
  createHash('sha256').update(JSON.stringify(body, sortedFields)).digest('hex')

const sortedFields = (_key: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value
