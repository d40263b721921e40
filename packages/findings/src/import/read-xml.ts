import { Parser } from 'htmlparser2'
import { MAX_DEPTH, MAX_RECORD, textsOf, unreadable, type ReportPart } from './read-body.ts'
import { patternsOf, underKey, type Pattern } from './json/patterns.ts'

/** Attributes and elements are fields; several elements of one name are a list; an element that has neither is a text. */
type Fields = Record<string, unknown>

interface Element {
  readonly name: string
  readonly pattern: Pattern | undefined
  readonly line: number
  readonly start: number
  /** Undefined: it is not read. */
  readonly fields: Fields | undefined
  text: string
}

/**
 * Reads the elements of XML that match one of the patterns, in memory for one element: `nmaprun.host`. An element in which
 * a longer pattern can match has its attributes as value, and its parts follow. Documents may follow each other. An
 * element without its end is a problem.
 */
export async function* xmlParts(
  body: AsyncIterable<Uint8Array>,
  ...patterns: readonly string[]
): AsyncGenerator<ReportPart> {
  const reader = new ElementReader(patternsOf(patterns))
  for await (const text of textsOf(body)) yield* reader.push(text)
  yield* reader.end()
}

class ElementReader {
  readonly #root: Pattern
  readonly #parser: Parser
  #stack: Element[] = []
  /** The outermost element that is read, and why it is unusable. */
  #record: Element | undefined
  #problem: string | undefined
  #found: ReportPart[] = []
  #text = ''
  /** The position of the piece in the document; up to where lines are counted, and their number. */
  #offset = 0
  #counted = 0
  #line = 1
  #hasEnded = false

  constructor(root: Pattern) {
    this.#root = root
    this.#parser = new Parser(
      {
        onopentag: (name, attributes) => this.#open(name, attributes),
        ontext: (text) => this.#addText(text),
        onclosetag: (name, isImplied) => this.#close(name, isImplied),
        onprocessinginstruction: (_, data) => {
          // Scanners declare no entities; a file that does is malicious.
          if (data.includes('<!ENTITY')) throw unreadable('it declares XML entities')
        },
      },
      { xmlMode: true },
    )
  }

  push(text: string): ReportPart[] {
    this.#text = text
    this.#parser.write(text)
    this.#countLines(text.length)
    this.#offset += text.length
    this.#counted = 0
    if (this.#offset - this.#parser.endIndex > MAX_RECORD)
      throw unreadable(`line ${this.#line} has a tag of more than ${MAX_RECORD} characters`)
    return this.#take()
  }

  end(): ReportPart[] {
    this.#text = ''
    this.#hasEnded = true
    this.#parser.end()
    return this.#take()
  }

  #take(): ReportPart[] {
    const found = this.#found
    this.#found = []
    return found
  }

  #countLines(end: number): void {
    let at = this.#text.indexOf('\n', this.#counted)
    for (; at >= 0 && at < end; at = this.#text.indexOf('\n', at + 1)) this.#line += 1
    this.#counted = Math.max(this.#counted, end)
  }

  #open(name: string, attributes: Readonly<Record<string, string>>): void {
    const start = this.#parser.startIndex
    this.#countLines(start - this.#offset)
    const parent = this.#stack.at(-1)
    const pattern = this.#stack.length === 0 ? underKey(this.#root, name) : underKey(parent?.pattern, name)
    const isRecord = this.#record === undefined && pattern?.at !== undefined && pattern.keys.size === 0
    const fields: Fields | undefined =
      isRecord || (this.#record !== undefined && this.#problem === undefined)
        ? Object.assign(Object.create(null) as Fields, attributes)
        : undefined
    const element: Element = { name, pattern, line: this.#line, start, fields, text: '' }
    if (this.#record === undefined && pattern?.at !== undefined && !isRecord)
      this.#yield(pattern.at, element, { ...attributes })
    if (isRecord) this.#record = element
    this.#stack.push(element)
    if (this.#record === undefined) return
    if (start - this.#record.start > MAX_RECORD)
      this.#problem ??= `it is longer than ${MAX_RECORD} characters`
    if (this.#stack.length > MAX_DEPTH) this.#problem ??= `it has more than ${MAX_DEPTH} levels of elements`
  }

  #addText(text: string): void {
    const element = this.#stack.at(-1)
    if (element?.fields !== undefined && this.#problem === undefined) element.text += text
  }

  /** `isImplied`: without an end tag, also for `<name/>`. */
  #close(name: string, isImplied: boolean): void {
    const element = this.#stack.pop()
    if (element === undefined) return
    const hasEnd = !isImplied || (!this.#hasEnded && this.#parser.startIndex === element.start)
    this.#countLines(this.#parser.startIndex - this.#offset)
    if (this.#record === undefined) {
      if (!hasEnd) this.#report(element, 'it has no end')
      return
    }
    if (!hasEnd) this.#problem ??= `<${name}> of line ${element.line} has no end`
    if (element !== this.#record) {
      const parent = this.#stack.at(-1)?.fields
      if (parent !== undefined && this.#problem === undefined) addTo(parent, name, valueOf(element))
      return
    }
    this.#record = undefined
    const problem = this.#problem
    this.#problem = undefined
    if (problem !== undefined) this.#report(element, problem)
    else this.#yield(element.pattern?.at ?? '', element, valueOf(element))
  }

  #report({ name, line }: Element, reason: string): void {
    this.#found.push({ kind: 'problem', line, reason: `<${name}>: ${reason}`, text: `<${name}` })
  }

  #yield(at: string, { name, line }: Element, value: unknown): void {
    this.#found.push({ kind: 'value', at, path: [...this.#stack.map((one) => one.name), name], line, value })
  }
}

const valueOf = ({ fields, text }: Element): unknown => {
  const trimmed = text.trim()
  if (fields === undefined || Object.keys(fields).length === 0) return trimmed
  if (trimmed !== '') fields['#text'] = trimmed
  return fields
}

const addTo = (fields: Fields, name: string, value: unknown): void => {
  const known = fields[name]
  if (known === undefined) fields[name] = value
  else if (Array.isArray(known)) known.push(value)
  else fields[name] = [known, value]
}
