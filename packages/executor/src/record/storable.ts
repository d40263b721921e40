/** Postgres takes neither NUL nor half of a surrogate pair; what tools print may have both. */
export const storable = (text: string): string => text.replaceAll('\0', '\uFFFD').toWellFormed()

/** JSON text of a value that may hold anything; `undefined` becomes null. */
export const storableJson = (value: unknown): string =>
  JSON.stringify(value ?? null, (_key, part: unknown) => (typeof part === 'string' ? storable(part) : part))

/** At most `limit` UTF-16 units; says what was left out. */
export const clipped = (text: string, limit: number): string =>
  text.length <= limit ? text : `${text.slice(0, limit)}… (${text.length - limit} more characters)`

export const clippedValues = (
  map: Readonly<Record<string, string>>,
  limit: number,
): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(map).map(([name, value]) => [name, clipped(value, limit)]))
