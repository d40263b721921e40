import { hash } from 'node:crypto'
import type { AssetContent, FindingContent, FoundRecords } from '@scanfarm/contracts'
import { canBeStored, storableJson } from '../text.ts'

/** Shorter texts stay in the record of the scanner. */
const MIN_REPLACED = 64

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1)
/** As in `raw_marker.sql`. */
const markerOf = (text: string): string => `\u0001${hash('md5', text)}\u0001`

/** A scanner's record without the columns request and response, as `shorten_raw.sql` does for others. */
const shortened = ({ raw_vuln_json: raw, ...content }: FindingContent): string => {
  if (raw.includes('\u0001')) return raw
  let short = raw
  for (const text of [content.detail_http_response, content.detail_http_request]) {
    if (text.length <= MIN_REPLACED || !canBeStored(text)) continue
    const inside = inJson(text)
    const at = short.indexOf(inside)
    // Texts of JSON contain no marker, so markers are found again.
    if (at >= 0 && short.indexOf(inside, at + 1) < 0)
      short = short.slice(0, at) + markerOf(text) + short.slice(at + inside.length)
  }
  return short
}

/** What identifies findings, as JSON. */
export const identitiesOf = (items: readonly FindingContent[]): string =>
  storableJson(
    items.map(({ vuln_info, vuln_title, asset_value, asset_type, fingerprint = '' }) => ({
      vuln_info,
      vuln_title,
      asset_value,
      asset_type,
      fingerprint,
    })),
  )

/** Fewer items are saved in one transaction. */
const MIN_PARALLEL = 100

/** What a place has in all spellings, with and without a scheme, a port or the number of a line. */
const stemOf = (place: string): string => place.replace(/^https?:\/\//i, '').split(/[/?#:]/, 1)[0] ?? ''

/** Two parts of a list that can be saved at the same time: items with the same identity are in the same part. */
export const halvesOf = <T extends FindingContent | AssetContent>(
  items: readonly T[],
): readonly (readonly T[])[] => {
  if (items.length < MIN_PARALLEL) return [items]
  const keyOf = (item: FindingContent | AssetContent): string =>
    'vuln_info' in item
      ? (item.vuln_info || item.vuln_title) + stemOf(item.asset_value)
      : stemOf(item.asset_value)
  const halves: [T[], T[]] = [[], []]
  for (const item of items)
    halves[hash('md5', keyOf(item), 'buffer').readUInt8() % 2 === 0 ? 0 : 1].push(item)
  return halves
}

/** The items of an import as JSON. */
export interface ImportItems {
  /** What each item says, by a hash: the database finds records that do not change without reading them. */
  readonly contents: readonly string[]
  /** All items, with their `content`. */
  readonly json: () => string
}

export const itemsOf = (
  workspace: string,
  source: string,
  { kind, items }: FoundRecords['records'],
): ImportItems => {
  const texts = (
    kind === 'asset' ? items : items.map((item) => ({ ...item, raw_vuln_json: shortened(item) }))
  ).map(storableJson)
  const origin = JSON.stringify([kind, workspace, source]).slice(0, -1)
  const contents = texts.map((text) => hash('sha256', `${origin},${text}]`))
  return {
    contents,
    // The last of equal keys counts.
    json: () =>
      `[${texts.map((text, index) => `${text.slice(0, -1)},"content":"${contents[index]}"}`).join(',')}]`,
  }
}

/** Hashes as Postgres reads them. */
export const byteas = (hashes: readonly string[]): string[] => hashes.map((one) => `\\x${one}`)
