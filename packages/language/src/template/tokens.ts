import { TemplateError } from './expression.ts'

/** A text, hole or tag with its offset. */
export interface Token {
  readonly kind: 'text' | 'hole' | 'tag'
  readonly text: string
  readonly at: number
  readonly name: string
}

/** Tags of the template language that existing files use; any other `{%` is text. */
const KNOWN_TAGS =
  'autoescape block comment cycle elif else empty endautoescape endblock endcomment endfilter endfor endif endifchanged endifequal endifnotequal endmacro endspaceless endwith exec extends filter firstof for if ifchanged ifequal ifnotequal import include lorem macro now set spaceless ssi templatetag widthratio with'
const TAG = new RegExp(
  String.raw`\{%-?\s*(${KNOWN_TAGS.replaceAll(' ', '|')})\b((?:(?!%\})[^\n])*?)-?%\}`,
  'y',
)
/** `${#name}` belongs to the shell. */
const COMMENT = /(?<!\$)\{#(?:(?!#\})[^])*#\}/y

/** The offset of a hole's closing braces, with respect to quotes. */
const closing = (source: string, from: number): number => {
  let quote = ''
  for (let i = from; i < source.length; i++) {
    const char = source[i] ?? ''
    if (quote !== '') {
      if (char === '\\') i++
      else if (char === quote) quote = ''
    } else if (char === '"' || char === "'") quote = char
    else if (char === '}' && source[i + 1] === '}') return i
  }
  // An unpaired apostrophe must not hide the end.
  return source.indexOf('}}', from)
}

const matchAt = (pattern: RegExp, source: string, at: number): RegExpExecArray | undefined => {
  pattern.lastIndex = at
  return pattern.exec(source) ?? undefined
}

/** Finds the next `mark` from increasing offsets, and searches each part of the text once. */
const finder = (source: string, mark: string): ((from: number) => number) => {
  let found = -2
  return (from) => {
    if (found !== -1 && found < from) found = source.indexOf(mark, from)
    return found
  }
}

/** Throws `TemplateError` for a hole that does not end. */
export const tokensOf = function* (source: string): Generator<Token> {
  let from = 0
  const before = (at: number): Token => ({ kind: 'text', text: source.slice(from, at), at: from, name: '' })
  const tagEnd = finder(source, '%}')
  const commentEnd = finder(source, '#}')
  for (let at = source.indexOf('{'); at !== -1; at = source.indexOf('{', at)) {
    const next = source[at + 1]
    const tag = next === '%' && tagEnd(at) !== -1 ? matchAt(TAG, source, at) : undefined
    const comment = next === '#' && commentEnd(at) !== -1 ? matchAt(COMMENT, source, at) : undefined
    if (next !== '{' && tag === undefined && comment === undefined) {
      at += 1
      continue
    }
    if (at > from) yield before(at)
    if (next === '{') {
      const end = closing(source, at + 2)
      if (end === -1) throw new TemplateError('"{{" without "}}"', at)
      yield { kind: 'hole', text: source.slice(at + 2, end), at, name: '' }
      from = end + 2
    } else {
      if (tag !== undefined) yield { kind: 'tag', text: (tag[2] ?? '').trim(), at, name: tag[1] ?? '' }
      from = at + (tag ?? comment ?? [''])[0].length
    }
    at = from
  }
  if (from < source.length) yield before(source.length)
}
