/** A record before and after. */
export interface Record {
  readonly id: number
  readonly before: Fields | null
  readonly after: Fields | null
}
type Fields = Readonly<{ [name: string]: unknown }>

/** They are columns of their own. */
const SHOWN = new Set(['vuln_title', 'asset_value', 'asset_type', 'url', 'severity'])

const listOf = (value: unknown): readonly string[] | undefined =>
  Array.isArray(value) ? value.map(String) : undefined

const textOf = (value: unknown): string => {
  if (Array.isArray(value)) return value.join(', ')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || value === 0 || listOf(value)?.length === 0

/** `open_ports: +443 −80`. */
const listChange = (before: readonly string[], after: readonly string[]): string =>
  [
    ...after.filter((each) => !before.includes(each)).map((each) => `+${each}`),
    ...before.filter((each) => !after.includes(each)).map((each) => `−${each}`),
  ].join(' ')

const wordsOf = (name: string): string => name.replace('vuln_info', 'identifier').replaceAll('_', ' ')

/** What differs between before and after; what is known, if there is only one of them. */
export const differencesOf = ({ before, after }: Record): string => {
  if (before === null || after === null)
    return Object.entries(after ?? before ?? {})
      .filter(([name, value]) => !SHOWN.has(name) && !isEmpty(value))
      .map(([name, value]) => `${wordsOf(name)}: ${textOf(value)}`)
      .join(' · ')
  return Object.keys(after)
    .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
    .map((name) => {
      const [from, to] = [listOf(before[name]), listOf(after[name])]
      return from && to
        ? `${wordsOf(name)}: ${listChange(from, to)}`
        : `${wordsOf(name)}: ${textOf(before[name])} → ${textOf(after[name])}`
    })
    .join(' · ')
}
