import { assetOf, findingOf } from '../content.ts'
import type { Unknown } from '../fields.ts'
import type { Imported } from './read-body.ts'

export const ERROR: Imported = { kind: 'error' }

export const asset = (row: Unknown): Imported => {
  const content = assetOf(row)
  return content === undefined ? ERROR : { kind: 'asset', content }
}

/** A finding of a report, with Scanfarm's field names. */
export const finding = (row: Unknown): Imported => {
  const content = findingOf(row)
  return content === undefined ? ERROR : { kind: 'vulnerability', content }
}

/** `host:port`, with brackets around an IPv6 address. */
export const hostPort = (host: string, port: string): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`
