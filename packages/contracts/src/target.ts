/** A target is data, never shell text. One check for all: API, file, event, watch, foreach over a payload. */
export const MAX_TARGET_LENGTH = 2048

// Control characters (C0, DEL, C1), white space of any script, quotes, backslash, backtick and shell operators.
const FORBIDDEN = /[\s\0-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060"`\\$|<>{}!]/
const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i
const IPV6_AUTHORITY = /^(?:[^[\]/?#@]*@)?\[[0-9a-f:.]+(?:%25[a-z0-9._~-]+)?\](?::\d{1,5})?$/i
/** An IPv6 address with a port, or alone. */
const IPV6_HOST = /^\[(?=[^\]]*:[^\]]*:)[0-9a-f:.]+\](?::\d{1,5})?$/i
const LATE_CHARACTERS = /[&?#=%~;']/
/** Escaped characters of a user name and a password. */
const ESCAPED_USER = /^(?:[^%@]|%[0-9a-f]{2})*@/i
const GLOB_CHARACTERS = /[()*]/

/** The reason why a target is refused, as a message for the caller; `undefined` if it is valid. */
export function targetProblem(target: string): string | undefined {
  if (target === '') return 'a target must not be empty'
  if (target.length > MAX_TARGET_LENGTH)
    return `a target has at most ${MAX_TARGET_LENGTH} characters, this one has ${target.length}`
  if (!target.isWellFormed()) return 'a target must be valid Unicode'
  if (target.startsWith('-')) return 'a target must not begin with "-", or tools would take it for an option'
  const bad = FORBIDDEN.exec(target)?.[0]
  if (bad !== undefined) return `a target must not contain ${naming(bad)}`
  const scheme = SCHEME.exec(target)?.[0]
  if (scheme === undefined) return plainProblem(target) ?? addressProblem(target)
  const rest = target.slice(scheme.length)
  return urlProblem(rest) ?? addressProblem(rest.replace(/[/?#].*$/s, '').replace(/^.*@/, ''))
}

const MAX_PORT = 65_535
const MAX_PREFIX = { 4: 32, 6: 128 } as const

/** A port, a part of an IPv4 address or the length of a prefix that is too large. `host` may have a port or a prefix. */
const addressProblem = (host: string): string | undefined => {
  const [, bare = host, port, prefix] =
    /^(\[[^\]]*\]|[^:/]*|[0-9a-f:.]*:[0-9a-f:.]*?)(?::(\d+))?(?:\/(\d+))?$/i.exec(host) ?? []
  const isColons = bare.includes(':')
  if (port !== undefined && !(isColons && !bare.startsWith('[')) && Number(port) > MAX_PORT)
    return `a target has a port of at most ${MAX_PORT}, not ${port}`
  const isV4 = /^\d+(\.\d+){3}$/.test(bare)
  const isPart = (part: string): boolean => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255
  if (isV4 && !bare.split('.').every(isPart))
    return `${bare} is not an IPv4 address: each part is a number from 0 to 255, without zeros in front`
  const most = isV4 ? MAX_PREFIX[4] : isColons ? MAX_PREFIX[6] : Infinity
  return prefix !== undefined && Number(prefix) > most
    ? `the prefix of ${bare} is at most ${most}, not ${prefix}; write http:// in front of a path`
    : undefined
}

const naming = (character: string): string =>
  /[\p{C}\p{Z}]/u.test(character)
    ? `the character U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
    : `the character ${character}`

const globProblem = (bad: string): string =>
  bad === '*'
    ? 'a target may contain * only as *. in front of a domain, or in the path or query of a URL'
    : `a target may contain ${bad} only in the path or query of a URL`

/** `*.` before a domain, optionally with a port. Nearly no target needs the expression, which takes 4 ms at first. */
const hasWildcard = (target: string): boolean =>
  target.startsWith('*.') &&
  /^\*\.(?!-)[\p{L}\p{M}\p{N}_-]+(?:\.[\p{L}\p{M}\p{N}_-]+)+\.?(?::\d{1,5})?$/u.test(target)

const plainProblem = (target: string): string | undefined => {
  const glob = hasWildcard(target) ? undefined : GLOB_CHARACTERS.exec(target)?.[0]
  if (glob !== undefined) return globProblem(glob)
  const bad = /[[\]&?#=%~;']/.exec(target)?.[0]
  if (bad === undefined || IPV6_HOST.test(target)) return undefined
  return bad === '[' || bad === ']'
    ? `a target may contain ${bad} only around an IPv6 address, or in the query of a URL`
    : `a target may contain ${bad} only in the path, query or fragment of a URL`
}

const BRACKETS = 'a target may contain [ or ] only around an IPv6 address, or in the query of a URL'

const urlProblem = (rest: string): string | undefined => {
  const end = rest.search(/[/?#]/)
  const authority = end < 0 ? rest : rest.slice(0, end)
  const tail = end < 0 ? '' : rest.slice(end)
  if (authority === '') return 'a URL target needs a host'
  const fragment = tail.includes('#') ? tail.slice(tail.indexOf('#')) : ''
  const glob = GLOB_CHARACTERS.exec((hasWildcard(authority) ? '' : authority) + fragment)?.[0]
  if (glob !== undefined) return globProblem(glob)
  if (/[[\]]/.test(tail.replace(/\?[^#]*/, ''))) return BRACKETS
  if (/[[\]]/.test(authority)) {
    return IPV6_AUTHORITY.test(authority) ? undefined : BRACKETS
  }
  const bad = LATE_CHARACTERS.exec(authority.replace(ESCAPED_USER, (user) => user.replaceAll('%', '')))?.[0]
  return bad === undefined
    ? undefined
    : `a target may contain ${bad} only in the path, query or fragment of a URL`
}

/** The target with the password of its URL replaced, for lists and events. */
export const withoutPassword = (target: string): string =>
  target.replace(/^([a-z][a-z0-9+.-]*:\/\/[^/?#@:]*:)[^/?#]*@/i, '$1***@')

/** The same for every URL in the values of params. */
export const withoutPasswords = (params: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(params).map(([name, value]) => [
      name,
      value.replaceAll(/(:\/\/[^\s/?#@:]*:)[^\s/?#]*@/g, '$1***@'),
    ]),
  )

/** Refuses only texts that no command, database or file can hold. All other values are escaped where they are used. */
export function paramProblem(value: string): string | undefined {
  if (value.includes('\0')) return 'a param must not contain NUL'
  return value.isWellFormed() ? undefined : 'a param must be valid Unicode'
}

/** Workspace names are valid folder names. */
export const WORKSPACE_PATTERN = '^[A-Za-z0-9._-]{1,128}$'

export const workspaceProblem = (name: string): string | undefined =>
  new RegExp(WORKSPACE_PATTERN).test(name) && name !== '.' && name !== '..'
    ? undefined
    : 'a workspace name has 1 to 128 characters of A-Z a-z 0-9 . _ - and is not "." or ".."'
