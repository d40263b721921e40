/**
 * Whether one of the names matches one of the patterns. `*` matches any text, slashes included; every other character
 * matches itself. Takes linear time, because callers choose the names: each part between two stars is looked for once.
 * Libraries for globs treat `.`, `..` and slashes specially.
 */
export const matchesAny = (patterns: readonly string[], names: readonly string[]): boolean =>
  patterns.some((pattern) => {
    const [first = '', ...parts] = pattern.split('*')
    const last = parts.pop()
    return names.some((name) => {
      if (last === undefined) return name === first
      if (!name.startsWith(first)) return false
      let at = first.length
      for (const part of parts) {
        const found = name.indexOf(part, at)
        if (found === -1) return false
        at = found + part.length
      }
      return name.length >= at + last.length && name.endsWith(last)
    })
  })
