import type { FieldError } from '@scanfarm/contracts'

const MAX_PROBLEMS = 50

const isPlain = (text: string): boolean => !text.includes('\0') && text.isWellFormed()

/**
 * Texts of a JSON value that no text of the database can hold, by JSON pointer. Stored without what cannot be stored
 * they would become other texts, or empty ones.
 */
export const textProblems = (value: unknown): FieldError[] => {
  const problems: FieldError[] = []
  const waiting: { value: unknown; path: string }[] = [{ value, path: '' }]
  const check = (text: string, path: string): void => {
    if (!isPlain(text)) problems.push({ path, message: 'must not contain NUL or half of a surrogate pair' })
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
