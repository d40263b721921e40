import { assetOf, findingOf } from '../content.ts'
import type { Unknown } from '../fields.ts'
import { spelled } from './paths.ts'
import type { Imported } from './read-body.ts'

export const unusable = (reason: string, line?: number): Imported => ({
  kind: 'error',
  reason,
  ...(line === undefined ? {} : { line }),
})

/**
 * The scan could not look at a host, a file or, if none is named, at everything in its scope; or only by one `check`. With
 * the check `''`, it could not look at the port by any.
 */
export const failed = (
  reason: string,
  place: { host?: string; file?: string; check?: string } = {},
): Imported => ({
  kind: 'failed',
  reason,
  ...place,
})

/** The scan could not look at one server. If it tested another one, this only concerns that server. */
export const failedServer = (place: string, reason: string, tested: ReadonlySet<string>): Imported => {
  const isOfOne = place !== '' && tested.difference(new Set([place])).size > 0
  if (isOfOne) return failed(reason, { host: place, check: '' })
  return failed(place === '' ? reason : `${place}: ${reason}`)
}

export const asset = (row: Unknown, line?: number): Imported => {
  const content = assetOf(row)
  return content === undefined ? unusable('the record names no place', line) : { kind: 'asset', content }
}

/** A finding of a report, with Scanfarm's field names. */
export const finding = (row: Unknown, line?: number): Imported => {
  const content = findingOf(row)
  return content === undefined
    ? unusable('the record names no problem', line)
    : { kind: 'vulnerability', content }
}

/** `host:port`, with brackets around an IPv6 address. */
export const hostPort = (host: string, port: string): string =>
  spelled(
    `${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}${port === '' ? '' : `:${port}`}`,
  )

/** The non-empty parts of a text, as paragraphs. */
export const paragraphs = (...parts: readonly string[]): string =>
  parts
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .join('\n\n')
