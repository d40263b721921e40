/**
 * Whether one of the names matches one of the patterns. `*` matches any text, slashes included; every other character
 * matches itself. Not a glob library: these treat `.` and `..` specially, and patterns with several `*` backtrack
 * exponentially on names that callers choose.
 */
export const matchesAny = (patterns: readonly string[], names: readonly string[]): boolean =>
  patterns.some((pattern) => {
    const source = pattern.split('*').map(RegExp.escape).join('.*')
    return names.some((name) => new RegExp(`^${source}$`).test(name))
  })
