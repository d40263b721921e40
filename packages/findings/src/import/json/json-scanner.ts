import { MAX_DEPTH, MAX_EXCERPT, MAX_RECORD, type ReportPart } from '../read-body.ts'
import { isSpace, keyOf, NO_JSON, objectOfLine, SCALAR, type Level, type Value } from './json-value.ts'
import { underKey, type Pattern } from './patterns.ts'

const LF = 10
const QUOTE = 34
const COMMA = 44
const COLON = 58
const OPEN_LIST = 91
const BACKSLASH = 92
const CLOSE_LIST = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125
const MAX_LISTS = 4

/**
 * Finds the values of a text that match patterns. Only their ends are looked for; `JSON.parse` reads them. Tolerates
 * missing and additional commas. After broken parts it continues with the next line that can begin a value.
 */
export class JsonScanner {
  /** Whether a list, an object or another value has begun. */
  hasDocument = false
  readonly #root: Pattern
  #stack: Level[] = []
  #value: Value | undefined
  /** Whether each open list or object in the value is a list. */
  #nested: boolean[] = []
  #inString = false
  #isEscaped = false
  /** The last character of the value that is no space, outside of strings. */
  #last = 0
  #line = 1
  /** Whether the line has only spaces so far. */
  #isFresh = true
  #found: ReportPart[] = []
  #text = ''
  /** The beginning of the value in this piece. */
  #from = 0

  constructor(root: Pattern) {
    this.#root = root
  }

  push(text: string): ReportPart[] {
    this.#text = text
    this.#from = 0
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (this.#inString) at = this.#readString(text, at)
      else if (code === LF) this.#endLine(at)
      else if (!isSpace(code)) {
        if (this.#value !== undefined) this.#inside(this.#value, code, at)
        else if (code === OPEN_OBJECT) at = this.#readObject(text, at)
        else this.#between(code, at)
        this.#isFresh = false
      } else if (this.#value?.kind === 'word') this.#endValue(at)
    }
    this.#keep(text.length)
    return this.#take()
  }

  /** Reads what begins with `{`; a document that is one line at once. Returns the position of the last character read. */
  #readObject(text: string, at: number): number {
    const { at: pattern, keys } = this.#root
    const isDocument = this.#isFresh && this.#stack.length === 0 && keys.size === 0
    const line = isDocument && pattern !== undefined ? objectOfLine(text, at) : undefined
    if (line === undefined || pattern === undefined) {
      this.#between(OPEN_OBJECT, at)
      return at
    }
    this.hasDocument = true
    this.#found.push({ kind: 'value', at: pattern, path: [], line: this.#line, value: line.value })
    return line.end - 1
  }

  /** At the end of the text. */
  end(): ReportPart[] {
    const open = this.#value
    this.#text = ''
    if (open !== undefined) {
      if (open.kind === 'string' || open.kind === 'nested') open.problem ??= 'the file ends within it'
      this.#endLine(0)
      if (this.#value !== undefined) this.#endValue(0)
    }
    const [outer] = this.#stack
    if (outer !== undefined && open?.problem === undefined)
      this.#problem(
        this.#line,
        `the file ends within the ${outer.isList ? 'list' : 'object'} of line ${outer.line}`,
      )
    return this.#take()
  }

  #take(): ReportPart[] {
    const found = this.#found
    this.#found = []
    return found
  }

  #problem(line: number, reason: string, text = ''): void {
    this.#found.push({ kind: 'problem', line, reason, text: text.slice(0, MAX_EXCERPT).trim() })
  }

  #endLine(at: number): void {
    if (this.#inString && this.#value !== undefined) {
      this.#value.problem ??= 'a text without its closing quote'
      this.#inString = this.#isEscaped = false
      this.#last = QUOTE
      if (this.#value.kind === 'string') this.#endValue(at)
    }
    if (this.#value?.kind === 'word') this.#endValue(at)
    if (this.#value?.kind === 'line') this.#endValue(at)
    this.#line += 1
    this.#isFresh = true
  }

  /** Reads to the end of a string, or of the piece. Returns the position of the last character. */
  #readString(text: string, from: number): number {
    let isEscaped = this.#isEscaped
    let at = from
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code === LF) {
        this.#endLine(at)
        return at
      }
      if (isEscaped) isEscaped = false
      else if (code === BACKSLASH) isEscaped = true
      else if (code === QUOTE) {
        this.#inString = this.#isEscaped = false
        this.#last = QUOTE
        if (this.#value?.kind === 'string') this.#endValue(at + 1)
        return at
      }
    }
    this.#isEscaped = isEscaped
    return at
  }

  /** A character between values. Outside of documents, what begins neither a list nor an object is a line of text. */
  #between(code: number, at: number): void {
    const level = this.#stack.at(-1)
    if (code === COMMA) return
    if (code === OPEN_LIST || code === OPEN_OBJECT) {
      if (level === undefined || level.isList || level.key !== undefined) this.#open(code === OPEN_LIST, at)
      else this.#restart(code, at)
    } else if (level === undefined) this.#begin('line', this.#root, at)
    else if (code === CLOSE_LIST || code === CLOSE_OBJECT) this.#close(level, code === CLOSE_LIST)
    else if (code === COLON) {
      if (level.key === undefined) this.#problem(this.#line, 'an unexpected ":"')
    } else if (code === QUOTE) {
      this.#begin('string', this.#patternOfNext(), at, !level.isList && level.key === undefined)
      this.#inString = true
    } else this.#begin('word', this.#patternOfNext(), at)
  }

  /** A list or object where a key is expected: another document begins, or something is missing. */
  #restart(code: number, at: number): void {
    this.#problem(this.#line, 'a key is expected', this.#text.slice(at, at + MAX_EXCERPT))
    if (this.#isFresh) this.#stack = []
    this.#open(code === OPEN_LIST, at)
  }

  #close(level: Level, isList: boolean): void {
    if (level.isList === isList) {
      if (level.key !== undefined) this.#problem(this.#line, 'a value is expected')
      this.#leave()
    } else {
      this.#problem(this.#line, `an unexpected "${isList ? ']' : '}'}"`)
      // A `}` too many is frequent; a `]` within an object ends the list around it.
      const list = isList ? this.#stack.findLastIndex((one) => one.isList) : -1
      if (list < 0) return
      this.#stack.length = list + 1
      this.#leave()
    }
  }

  #leave(): void {
    this.#stack.pop()
    this.hasDocument = true
    this.#next()
  }

  /** The value of the innermost level is complete. */
  #next(): void {
    const level = this.#stack.at(-1)
    if (level === undefined) return
    level.key = undefined
    level.index += 1
  }

  #patternOfNext(): Pattern | undefined {
    const level = this.#stack.at(-1)
    if (level === undefined) return this.#root
    return level.isList ? level.pattern?.item : underKey(level.pattern, level.key ?? '')
  }

  /** Where in its report the next value is: lists around reports do not count. */
  #path(): string[] {
    return this.#stack
      .filter((level) => !level.isList || level.pattern?.item !== this.#root)
      .map((level) => (level.isList ? String(level.index) : (level.key ?? '')))
  }

  #open(isList: boolean, at: number): void {
    let pattern = this.#patternOfNext()
    const isAround = isList && pattern !== undefined && pattern.item === pattern
    if (isAround && this.#stack.length >= MAX_LISTS) {
      this.#problem(this.#line, `it is in more than ${MAX_LISTS} lists`)
      pattern = undefined
    }
    const goesOn = isList ? pattern?.item !== undefined : (pattern?.keys.size ?? 0) > 0
    this.hasDocument ||= !isList
    // Logs contain `[INF]`, so that the items of every outer list are looked at.
    if (!goesOn && !(isList && this.#stack.length === 0)) {
      this.#begin('nested', pattern, at)
      this.#nested = [isList]
      this.#last = isList ? OPEN_LIST : OPEN_OBJECT
      return
    }
    if (pattern?.at !== undefined && goesOn && !isAround)
      this.#found.push({
        kind: 'value',
        at: pattern.at,
        path: this.#path(),
        line: this.#line,
        value: isList ? [] : {},
      })
    this.#stack.push({ pattern, isList, line: this.#line, index: 0, key: undefined })
  }

  #begin(kind: Value['kind'], pattern: Pattern | undefined, at: number, isKey = false): void {
    this.#value = { kind, pattern, isKey, line: this.#line, parts: [], length: 0 }
    this.#from = at
  }

  /** A character within a value, outside of strings. */
  #inside(value: Value, code: number, at: number): void {
    if (value.kind === 'line') return
    if (value.kind === 'word') {
      if (code !== COMMA && code !== CLOSE_LIST && code !== CLOSE_OBJECT && code !== COLON) return
      this.#endValue(at)
      // The word may have shown that this is a line of text.
      if (this.#value === undefined) this.#between(code, at)
      return
    }
    if (code === QUOTE) this.#inString = true
    else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      if (this.#opensWithin(value, code, at)) return
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) {
      if (this.#nested.pop() !== (code === CLOSE_LIST))
        value.problem ??= `line ${this.#line} has an unexpected "${String.fromCharCode(code)}"`
      if (this.#nested.length === 0) return this.#endValue(at + 1)
    }
    this.#last = code
  }

  /** True: what begins here is not within the value, which is broken. */
  #opensWithin(value: Value, code: number, at: number): boolean {
    const isValid =
      this.#nested.at(-1) === true ? this.#last === OPEN_LIST || this.#last === COMMA : this.#last === COLON
    if (!isValid) value.problem ??= `line ${this.#line} has an unexpected "${String.fromCharCode(code)}"`
    if (value.problem !== undefined && this.#isFresh) {
      this.#endValue(at)
      if (code === OPEN_LIST) this.#stack = []
      this.#between(code, at)
      return true
    }
    if (this.#nested.push(code === OPEN_LIST) > MAX_DEPTH)
      value.problem ??= `it has more than ${MAX_DEPTH} levels of lists and objects`
    return false
  }

  /** Keeps the text of an open value until the next piece. */
  #keep(end: number): void {
    const value = this.#value
    if (value === undefined) return
    const isKept = value.isKey || value.kind !== 'nested' || value.pattern?.at !== undefined
    if (isKept && value.length <= MAX_RECORD) {
      value.parts.push(this.#text.slice(this.#from, end))
      value.length += end - this.#from
      if (value.length > MAX_RECORD) {
        value.problem ??= `it is longer than ${MAX_RECORD} characters`
        value.parts.length = 1
      }
    }
    this.#from = 0
  }

  #endValue(end: number): void {
    const value = this.#value
    if (value === undefined) return
    this.#keep(end)
    this.#value = undefined
    this.#nested = []
    this.#inString = this.#isEscaped = false
    const text = value.parts.join('')
    if (value.kind === 'line') return this.#endText(value, text)
    if (value.kind === 'word' && !SCALAR.test(text)) return this.#endWord(value, text, end)
    const level = this.#stack.at(-1)
    if (value.isKey && level !== undefined) {
      level.key = keyOf(text)
      if (value.problem !== undefined) this.#problem(value.line, value.problem, text)
    } else {
      this.#yield(value, text)
      this.#next()
    }
  }

  #yield(value: Value, text: string): void {
    this.hasDocument = true
    const at = value.pattern?.at
    if (value.problem !== undefined) this.#problem(value.line, value.problem, text)
    else if (at !== undefined) {
      try {
        const read: unknown = JSON.parse(text)
        this.#found.push({ kind: 'value', at, path: this.#path(), line: value.line, value: read })
      } catch (error) {
        const reason = (error as SyntaxError).message
        const within = Number(/\(line (\d+) column/.exec(reason)?.[1] ?? 1) - 1
        this.#problem(value.line + within, reason, text)
      }
    }
  }

  /** A word that is no JSON. In an outer list that began on this line it shows a line of text: `[INF] …`. */
  #endWord(value: Value, text: string, end: number): void {
    const [outer] = this.#stack
    if (
      this.#stack.length === 1 &&
      outer?.isList === true &&
      outer.line === value.line &&
      outer.index === 0
    ) {
      this.#stack = []
      this.#value = { ...value, kind: 'line', parts: [`[${text}`] }
      this.#from = end
      return
    }
    this.#problem(value.line, 'a value is expected', text)
    if (this.#stack.at(-1)?.key !== undefined || outer?.isList === true) this.#next()
  }

  /** A line outside of documents: one value like `null`, or text. */
  #endText(value: Value, text: string): void {
    const word = text.trim()
    if (SCALAR.test(word)) this.#yield(value, word)
    else this.#problem(value.line, NO_JSON, text)
  }
}
