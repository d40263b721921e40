/** Removes NUL and replaces unpaired surrogates: Postgres rejects both, and the output of tools may contain them. */
export const storable = (text: string): string => text.replaceAll('\0', '').toWellFormed()

/** False: no stored text equals this one, so a query for it finds nothing. */
export const canBeStored = (text: string): boolean => text === storable(text)

/** JSON text of a value, with all strings and keys made storable. */
export const storableJson = (value: unknown): string => {
  const json = JSON.stringify(value)
  // JSON has NUL and unpaired surrogates as escapes.
  if (!/\\u(?:0000|d[89a-f])/.test(json)) return json
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (typeof inner === 'string') return storable(inner)
    if (inner !== null && typeof inner === 'object' && !Array.isArray(inner)) return withStorableKeys(inner)
    return inner
  })
}

const withStorableKeys = (object: object): object => {
  const entries = Object.entries(object)
  return entries.every(([key]) => key === storable(key))
    ? object
    : Object.fromEntries(entries.map(([key, value]) => [storable(key), value]))
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Whether the text is a uuid in the form that the API writes. Postgres accepts other forms too. */
export const isUuid = (text: string): boolean => UUID.test(text)
