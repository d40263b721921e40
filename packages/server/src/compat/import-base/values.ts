import { valueOr } from '@scanfarm/contracts'
import { createHash } from 'node:crypto'
import type { BaseRow } from '@scanfarm/store'

/** Maximum length of a text. */
const MAX_TEXT = 64 * 1024

/** A value as text: `""` for none, JSON for lists and objects. */
export const asText = (value: unknown): string => {
  if (typeof value === 'string') return value
  return value === null || value === undefined ? '' : JSON.stringify(value)
}

export const textOf = (row: BaseRow, column: string, max = MAX_TEXT): string =>
  asText(row[column]).slice(0, max)

export const countOf = (row: BaseRow, column: string): number => {
  const value = Number(row[column] ?? 0)
  return Number.isSafeInteger(value) && value > 0 ? value : 0
}

/**
 * ISO 8601; undefined if there is no time. SQLite stores times like `2026-01-02 03:04:05.6+00:00`, and defaults in UTC
 * without a zone.
 */
export const timeOf = (row: BaseRow, column: string): string | undefined => {
  const value = row[column]
  const text = value instanceof Date ? value.toISOString() : typeof value === 'string' ? value : ''
  const time = new Date(text.replace(/^(\d{4}-\d\d-\d\d) (\S+)$/, '$1T$2').replace(/T[\d:.]+$/, '$&Z'))
  return Number.isNaN(time.getTime()) || time.getUTCFullYear() < 1971 ? undefined : time.toISOString()
}

const jsonOf = (row: BaseRow, column: string): unknown => {
  const value = row[column]
  if (typeof value !== 'string') return value ?? undefined
  return valueOr(() => JSON.parse(value) as unknown, undefined)
}

/** The fields of a JSON object as text; empty for any other value. */
export const textsOf = (row: BaseRow, column: string): Record<string, string> => {
  const value = jsonOf(row, column)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {}
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, asText(item)]))
}

/** The strings of a JSON list; empty for any other value. */
export const listOf = (row: BaseRow, column: string, maxItems: number, maxLength: number): string[] => {
  const value = jsonOf(row, column)
  if (!Array.isArray(value)) return []
  return value
    .filter((item): item is string => typeof item === 'string')
    .slice(0, maxItems)
    .map((item) => item.slice(0, maxLength))
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** A UUID derived from the parts, so that a repeated import finds existing records. */
export const uuidFrom = (...parts: readonly (string | number)[]): string => {
  const hex = createHash('sha256').update(JSON.stringify(parts)).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

export const uuidOf = (kind: string, text: string): string =>
  UUID.test(text) ? text.toLowerCase() : uuidFrom(kind, text)

export const jobIdFrom = (group: string): string =>
  createHash('sha256').update(`job ${group}`).digest('hex').slice(0, 16)

/** Batches of at most `size`, in order. */
export async function* batches<T>(items: AsyncIterable<T>, size: number): AsyncGenerator<T[]> {
  let batch: T[] = []
  for await (const item of items) {
    batch.push(item)
    if (batch.length < size) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}
