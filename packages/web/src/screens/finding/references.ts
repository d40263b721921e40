const NAMES = new Set(['reference', 'references', 'helpuri', 'matched-at', 'url', 'uri'])
const MOST = 50
const MOST_DEPTH = 8

const isWeb = (text: string): boolean =>
  text.length <= 2_048 && URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)

/** Web addresses that the record of the scanner names as references. */
export const referencesOf = (raw: string): readonly string[] => {
  const found = new Set<string>()
  const walk = (value: unknown, named: boolean, depth: number): void => {
    if (depth > MOST_DEPTH || found.size >= MOST) return
    if (typeof value === 'string') {
      if (named && isWeb(value)) found.add(value)
    } else if (Array.isArray(value)) for (const each of value) walk(each, named, depth + 1)
    else if (typeof value === 'object' && value !== null)
      for (const [name, each] of Object.entries(value)) walk(each, NAMES.has(name.toLowerCase()), depth + 1)
  }
  try {
    walk(JSON.parse(raw), false, 0)
  } catch {
    return []
  }
  return [...found]
}
