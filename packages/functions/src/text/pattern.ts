import { RE2JS } from 're2js'
import { messageOf } from '@scanfarm/language'
import { NoResult } from '../define.ts'

/** Maximum number of characters of a pattern. */
export const MAX_PATTERN = 4096
/** Maximum number of instructions of a compiled pattern: repetitions like `{1,500}` are expanded. */
const MAX_INSTRUCTIONS = 10_000
/** Maximum product of characters and instructions: at most about 0.2 s, because a match cannot be interrupted. */
export const MAX_WORK = 1 << 24
/** Maximum number of cached patterns. */
const MAX_KEPT = 500

export interface Pattern {
  /** Maximum number of characters of a text. */
  readonly longest: number
  /** Whether the pattern occurs in the text. Throws if the text is too long for the pattern. */
  test(text: string): boolean
  /** Replaces all matches or the first: `$1`, `${1}` and `${name}` are groups, `$$` is a dollar. */
  replace(text: string, by: string, all: boolean): string
}

const kept = new Map<string, Pattern>()

/** Compiles a regular expression in RE2 syntax, which matches in linear time. Throws with a message for the author. */
export const patternOf = (source: string): Pattern => {
  const known = kept.get(source)
  if (known !== undefined) return known
  const made = compile(source)
  const [oldest] = kept.keys()
  if (kept.size >= MAX_KEPT && oldest !== undefined) kept.delete(oldest)
  kept.set(source, made)
  return made
}

const compile = (source: string): Pattern => {
  if (source.length > MAX_PATTERN)
    throw new Error(
      `a regular expression may have at most ${MAX_PATTERN} characters; this one has ${source.length}`,
    )
  const compiled = parsed(source)
  const instructions = compiled.programSize()
  if (instructions > MAX_INSTRUCTIONS)
    throw new Error(
      `the regular expression "${shortened(source)}" needs ${instructions} instructions, more than the ${MAX_INSTRUCTIONS} allowed: use smaller repetitions`,
    )
  const longest = Math.floor(MAX_WORK / instructions)
  const bounded = (text: string): string => {
    if (text.length <= longest) return text
    throw new Error(
      `the regular expression "${shortened(source)}" takes at most ${longest} characters at a time, and this text has ${text.length}: use a simpler pattern, or grep in a bash step`,
    )
  }
  return {
    longest,
    test: (text) => compiled.test(bounded(text)),
    replace: (text, by, all) => replaced(compiled, bounded(text), by, all),
  }
}

const GROUP = /\$(?:\$|(\w+)|\{(\w+)\})/g

/** Replaces matches. A group without a match is empty. */
const replaced = (compiled: RE2JS, text: string, by: string, all: boolean): string => {
  const matcher = compiled.matcher(text)
  const named = compiled.namedGroups()
  const group = (name: string): string => {
    const index = /^\d+$/.test(name) ? Number(name) : (named[name] ?? -1)
    return index >= 0 && index <= matcher.groupCount() ? (matcher.group(index) ?? '') : ''
  }
  let [result, from] = ['', 0]
  while (matcher.find()) {
    const put = by.replaceAll(GROUP, (whole, plain?: string, braced?: string) =>
      whole === '$$' ? '$' : group(plain ?? braced ?? ''),
    )
    result += text.slice(from, matcher.start()) + put
    from = matcher.end()
    if (result.length > MAX_WORK) throw new Error(`the text would have more than ${MAX_WORK} characters`)
    if (!all) break
  }
  return result + text.slice(from)
}

const parsed = (source: string): RE2JS => {
  try {
    return RE2JS.compile(source)
  } catch (error) {
    const reason = messageOf(error).replace('error parsing regexp: ', '')
    throw new NoResult(
      `"${shortened(source)}" is not a regular expression in RE2 syntax: ${reason} (look-ahead, look-behind and back references are not available)`,
      { cause: error },
    )
  }
}

const shortened = (source: string): string => (source.length <= 80 ? source : `${source.slice(0, 79)}…`)
