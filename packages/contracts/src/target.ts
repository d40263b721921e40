/**
 * A target is data, never shell text. The same check applies everywhere: API, file, event, watch, foreach over an event
 * payload.
 */
export const MAX_TARGET_LENGTH = 2048

// Control characters (C0, DEL, C1), white space of any script, quotes, backslash, backtick and shell operators.
const FORBIDDEN = /[\p{Cc}\p{Zs}\p{Zl}\p{Zp}\u200b-\u200f\u202a-\u202e\u2060\ufeff"'`\\$;|<>{}!]/u
const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i
const IPV6_AUTHORITY = /^(?:[^[\]/?#@]*@)?\[[0-9a-f:.]+(?:%25[a-z0-9._~-]+)?\](?::\d{1,5})?$/i
const LATE_CHARACTERS = /[&?#=%~]/
const GLOB_CHARACTERS = /[()*]/
/** `*.` before a domain, optionally with a port. */
const WILDCARD = /^\*\.(?!-)[\p{L}\p{M}\p{N}_-]+(?:\.[\p{L}\p{M}\p{N}_-]+)+\.?(?::\d{1,5})?$/u

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
  return scheme === undefined ? plainProblem(target) : urlProblem(target.slice(scheme.length))
}

const naming = (character: string): string =>
  /[\p{C}\p{Z}]/u.test(character)
    ? `the character U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
    : `the character ${character}`

const globProblem = (bad: string): string =>
  bad === '*'
    ? 'a target may contain * only as *. in front of a domain, or in the path or query of a URL'
    : `a target may contain ${bad} only in the path or query of a URL`

/** Compiling the expression takes 3 ms, which nearly no target needs. */
const hasWildcard = (target: string): boolean => target.startsWith('*.') && WILDCARD.test(target)

const plainProblem = (target: string): string | undefined => {
  const glob = hasWildcard(target) ? undefined : GLOB_CHARACTERS.exec(target)?.[0]
  if (glob !== undefined) return globProblem(glob)
  const bad = /[[\]&?#=%~]/.exec(target)?.[0]
  if (bad === undefined) return undefined
  return bad === '[' || bad === ']'
    ? `a target may contain ${bad} only around the IPv6 address of a URL`
    : `a target may contain ${bad} only in the path, query or fragment of a URL`
}

const urlProblem = (rest: string): string | undefined => {
  const end = rest.search(/[/?#]/)
  const authority = end < 0 ? rest : rest.slice(0, end)
  const tail = end < 0 ? '' : rest.slice(end)
  if (authority === '') return 'a URL target needs a host'
  const fragment = tail.includes('#') ? tail.slice(tail.indexOf('#')) : ''
  const glob = GLOB_CHARACTERS.exec((hasWildcard(authority) ? '' : authority) + fragment)?.[0]
  if (glob !== undefined) return globProblem(glob)
  if (/[[\]]/.test(tail)) return 'a target may contain [ or ] only around the IPv6 address of a URL'
  if (/[[\]]/.test(authority)) {
    return IPV6_AUTHORITY.test(authority)
      ? undefined
      : 'a target may contain [ or ] only around the IPv6 address of a URL'
  }
  const bad = LATE_CHARACTERS.exec(authority)?.[0]
  return bad === undefined
    ? undefined
    : `a target may contain ${bad} only in the path, query or fragment of a URL`
}

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
