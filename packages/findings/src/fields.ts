/** Accessors for values of unknown shape. */
export type Unknown = Readonly<Record<string, unknown>>

export const isRecord = (value: unknown): value is Unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The value at a path, or undefined. Prototype properties are ignored. */
export const at = (value: unknown, ...path: string[]): unknown => {
  let found = value
  for (const key of path) found = isRecord(found) && Object.hasOwn(found, key) ? found[key] : undefined
  return found
}

/** A field by its flat name, or else by the path in the name: `info.severity`. */
const field = (row: Unknown, name: string): unknown => {
  if (Object.hasOwn(row, name)) return row[name]
  return name.includes('.') ? at(row, ...name.split('.')) : undefined
}

export const isThere = (value: unknown): boolean => value !== undefined && value !== null && value !== ''

/** The value of the first existing field. */
export const pick = (row: Unknown, ...names: string[]): unknown => {
  for (const name of names) {
    const value = field(row, name)
    if (isThere(value)) return value
  }
  return undefined
}

export const asText = (value: unknown): string => {
  if (!isThere(value)) return ''
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

export const asList = (value: unknown): unknown[] =>
  Array.isArray(value) ? value : isThere(value) ? [value] : []

export const asTexts = (value: unknown): string[] =>
  asList(value)
    .map(asText)
    .filter((text) => text !== '')
