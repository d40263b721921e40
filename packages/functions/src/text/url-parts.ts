/** The parts of a URL as written, without normalisation. */
export interface UrlParts {
  readonly scheme: string
  /** `name:password` */
  readonly user: string
  /** Host with brackets and port. */
  readonly authority: string
  readonly host: string
  readonly port: string
  /** Decoded. */
  readonly path: string
  /** Encoded. */
  readonly rawPath: string
  readonly query: string | undefined
  readonly fragment: string | undefined
}

const PARTS = /^(?:([a-z][a-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/is
const AUTHORITY = /^(?:(.*)@)?(\[[0-9a-f:.]*\]|[^:\s{}|\\^`%@]*)(?::(\d*))?$/is
/** Invalid characters and invalid escapes. */
const BAD = /[\0-\u001f\u007f-\u009f]|%(?![0-9a-f]{2})/i

/** Decodes escapes; bytes that are not UTF-8 are replaced. */
const unescaped = (text: string): string =>
  text.includes('%')
    ? Buffer.from(
        text.replaceAll(/%([0-9a-f]{2})|[^%]+/gi, (piece, byte?: string) =>
          byte === undefined
            ? Buffer.from(piece).toString('latin1')
            : String.fromCharCode(Number.parseInt(byte, 16)),
        ),
        'latin1',
      ).toString('utf8')
    : text

/** The parts of a URL, also without a scheme or a host; undefined if it is invalid. */
export const urlParts = (text: string): UrlParts | undefined => {
  if (BAD.test(text)) return undefined
  const [, scheme = '', authority, rawPath = '', query, fragment] = PARTS.exec(text) ?? []
  const found = AUTHORITY.exec(authority ?? '')
  const colonFirst = scheme === '' && authority === undefined && /^[^/]*:/.test(rawPath)
  if (found === null || colonFirst) return undefined
  const [, user = '', host = '', port = ''] = found
  return {
    scheme: scheme.toLowerCase(),
    user,
    authority: authority === undefined ? '' : authority.slice(user === '' ? 0 : user.length + 1),
    host: host.replaceAll(/^\[|\]$/g, ''),
    port,
    path: unescaped(rawPath),
    rawPath,
    query,
    fragment: fragment === undefined ? undefined : unescaped(fragment),
  }
}

const escapedBytes = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')

export const escapePath = (path: string): string => path.replaceAll(/[^\w.~$&+,/:;=@-]+/g, escapedBytes)

const escapeQuery = (text: string): string =>
  text.replaceAll(/[^\w.~ -]+/g, escapedBytes).replaceAll(' ', '+')

/** Names and values of a query, in order. */
export const queryPairs = (query: string): [string, string][] =>
  query.split('&').flatMap((pair): [string, string][] => {
    if (pair === '' || pair.includes(';') || BAD.test(pair)) return []
    const at = pair.indexOf('=')
    const [name, value] = at === -1 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)]
    return [[unescaped(name.replaceAll('+', ' ')), unescaped(value.replaceAll('+', ' '))]]
  })

/** Formats a query, sorted by names. */
export const queryText = (pairs: readonly (readonly [string, string])[]): string =>
  pairs
    .toSorted(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    .map(([name, value]) => `${escapeQuery(name)}=${escapeQuery(value)}`)
    .join('&')

/** The URL of these parts with another path (encoded), query and fragment. */
export const urlText = (
  { scheme, user, authority }: UrlParts,
  path: string,
  query: string | undefined,
  fragment: string | undefined,
): string => {
  const hasHost = scheme !== '' || authority !== '' || user !== ''
  const start = `${scheme === '' ? '' : `${scheme}:`}${hasHost ? '//' : ''}${user === '' ? '' : `${user}@`}${authority}`
  const way = authority !== '' && path !== '' && !path.startsWith('/') ? `/${path}` : path
  const end = fragment === undefined || fragment === '' ? '' : `#${escapePath(fragment)}`
  return `${start}${way}${query === undefined ? '' : `?${query}`}${end}`
}
