/** Longest pattern a workflow may give. */
const MAX_PATTERN = 4096

/** Flags written in the pattern, as Go and Python have them. */
const INLINE_FLAGS = /^\(\?([imsU]+)\)/

/**
 * The regular expression of an author. Throws with the pattern's own words when it is none. Patterns are the
 * author's; the texts they are applied to are read line by line, which keeps back-tracking short.
 */
export const safeRegExp = (pattern: string, flags = ''): RegExp => {
  if (pattern.length > MAX_PATTERN) throw new Error(`a pattern may have at most ${MAX_PATTERN} characters`)
  const [whole = '', inline = ''] = INLINE_FLAGS.exec(pattern) ?? []
  const all = new Set([...flags, ...inline.replace('U', '')])
  return new RegExp(pattern.slice(whole.length), [...all].join(''))
}
