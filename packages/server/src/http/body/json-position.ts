/**
 * The position of the first syntax error. Called after `JSON.parse` has failed, because its message does not always
 * contain a position. Uses an explicit stack, so that deep nesting cannot exhaust the call stack.
 */
export function jsonPosition(source: string): { line: number; column: number; offset: number } {
  const offset = firstFault(source)
  const before = source.slice(0, offset)
  const line = before.split('\n').length
  return { line, column: offset - (before.lastIndexOf('\n') + 1) + 1, offset }
}

const SPACE = /[ \t\n\r]*/y
const PLAIN = /[^"\\\u0000-\u001f]*/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y
const SCALAR = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null/y

type Expect = 'value' | 'first' | 'key' | 'colon' | 'next'

const firstFault = (source: string): number => {
  const open: ('{' | '[')[] = []
  let expect: Expect = 'value'
  let at = 0
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at
    if (!pattern.test(source)) return false
    at = pattern.lastIndex
    return true
  }
  /** In pieces: a single expression exhausts the stack on strings of many megabytes. */
  const takeString = (): boolean => {
    const start = at
    if (source[at] === '"') {
      at += 1
      do take(PLAIN)
      while (take(ESCAPE))
      if (source[at] === '"') {
        at += 1
        return true
      }
    }
    at = start
    return false
  }
  for (;;) {
    take(SPACE)
    const mark = source[at]
    if (expect === 'next' && open.length === 0) return at
    if (expect === 'value' || expect === 'first') {
      if (mark === '{' || mark === '[') {
        open.push(mark)
        expect = 'first'
        at += 1
        if (mark === '{') expect = 'key'
        take(SPACE)
        if (source[at] === (mark === '{' ? '}' : ']')) {
          at += 1
          open.pop()
          expect = 'next'
        }
        continue
      }
      if (!takeString() && !take(SCALAR)) return at
      expect = 'next'
    } else if (expect === 'key') {
      if (!takeString()) return at
      expect = 'colon'
    } else if (expect === 'colon') {
      if (mark !== ':') return at
      at += 1
      expect = 'value'
    } else if (mark === ',') {
      at += 1
      expect = open.at(-1) === '{' ? 'key' : 'value'
    } else if (mark === (open.at(-1) === '{' ? '}' : ']')) {
      at += 1
      open.pop()
    } else {
      return at
    }
  }
}
