/** Postgres takes neither NUL nor half of a surrogate pair; what tools print may have both. */
export const storable = (text: string): string => text.replaceAll('\0', '\uFFFD').toWellFormed()

/** JSON text of a value that may hold anything; `undefined` becomes null. */
export const storableJson = (value: unknown): string =>
  JSON.stringify(value ?? null, (_key, part: unknown) => (typeof part === 'string' ? storable(part) : part))

/** At most `limit` UTF-16 units; says what was left out. */
export const clipped = (text: string, limit: number): string =>
  text.length <= limit ? text : `${text.slice(0, limit)}… (${text.length - limit} more characters)`

/** Values of a map: so many, so long each and all together with their names. What is left out is counted under `…`. */
export const clippedValues = (
  map: Readonly<Record<string, string>>,
  limits: { readonly each: number; readonly all: number; readonly count: number },
): Readonly<Record<string, string>> => {
  const entries = Object.entries(map)
  let room = limits.all
  const kept = entries.slice(0, limits.count).flatMap(([name, value]): [string, string][] => {
    const clip = clipped(value, limits.each)
    const size = name.length + clip.length
    if (size > room) return []
    room -= size
    return [[name, clip]]
  })
  const left = entries.length - kept.length
  return Object.fromEntries(left === 0 ? kept : [...kept, ['…', `${left} more values`]])
}
