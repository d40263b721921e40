import { SHELL_COMMANDS } from './calls.ts'
import { simpleOf, type Simple } from './simple.ts'
import { TemplateError, type Expr } from '../template/expression.ts'
import { holesOf, parseTemplate } from '../template/parse.ts'

export interface Hole {
  readonly expr: Expr
  readonly quoted: boolean
  /** Whether the hole is part of a shell command, where it is escaped for its quoting context. */
  readonly shell: boolean
}

/** An expression prepared for the engine: every `{{x}}` is replaced by a reference to a value and never becomes code. */
export interface Program {
  readonly source: string
  readonly code: string
  /** The holes by index: `$hole[0]` in code, `$text[0]` inside quotes, `$shell[0]` in a shell command. */
  readonly holes: readonly Hole[]
  /** Names of variables and functions that the program may use. */
  readonly names: ReadonlySet<string>
  /** The program as a tree, if it can be evaluated without the engine. */
  readonly simple: Simple | undefined
  /** Names of called functions with their first offset in the source. */
  readonly calls: ReadonlyMap<string, number>
}

const REGEX_MAY_FOLLOW = /(?:^|[(,=:[!&|?{};+\-*%^~<>]|\breturn|\btypeof|\bin)\s*$/
/** Number of preceding characters that are examined; a search over all of them would be quadratic. */
const TAIL_CHARS = 256
const NAME = /[A-Za-z_$][\w$]*/y

class Preparer {
  readonly #source: string
  readonly #holes: Hole[] = []
  readonly #names = new Set<string>()
  readonly #calls = new Map<string, number>()
  /** The called function of each open parenthesis. */
  readonly #open: string[] = []
  #callee: string | undefined
  #code = ''
  #at = 0

  constructor(source: string) {
    this.#source = source
  }

  prepare(): Program {
    this.#run('')
    return {
      source: this.#source,
      simple: this.#holes.some(({ shell }) => shell)
        ? undefined
        : simpleOf(
            this.#code,
            this.#holes.map(({ expr }) => expr),
          ),
      code: this.#code,
      holes: this.#holes,
      names: this.#names,
      calls: this.#calls,
    }
  }

  #starts(text: string): boolean {
    return this.#source.startsWith(text, this.#at)
  }

  /** Reads the hole at the current offset and returns the code that refers to its value. */
  #hole(quoted: boolean): string {
    const rest = this.#source.slice(this.#at)
    const end = holeEnd(rest)
    if (end === -1) throw new TemplateError('"{{" without "}}"', this.#at)
    const [hole] = holesOf(parseTemplate(rest.slice(0, end)).nodes)
    if (hole === undefined) throw new TemplateError('"{{" without "}}"', this.#at)
    const shell = SHELL_COMMANDS.has(this.#open.at(-1) ?? '')
    this.#holes.push({ expr: hole.expr, quoted, shell })
    this.#at += end
    const index = this.#holes.length - 1
    if (shell) return `$shell[${index}]`
    return quoted ? `$text[${index}]` : `$hole[${index}]`
  }

  /** Reads code up to `until`, which is not consumed. */
  #run(until: '' | '}'): void {
    let depth = 0
    while (this.#at < this.#source.length) {
      const char = this.#source[this.#at] ?? ''
      if (until === '}' && char === '}' && depth === 0) return
      if (this.#starts('{{') && this.#isHole()) {
        this.#code += ` ${this.#hole(false)} `
        continue
      }
      if (char === '{') depth++
      if (char === '}') depth--
      this.#parenthesis(char)
      if (char === '"' || char === "'") this.#string(char)
      else if (char === '`') this.#literal()
      else if (this.#starts('//') || this.#starts('/*')) this.#comment()
      else if (char === '/' && REGEX_MAY_FOLLOW.test(this.#code.slice(-TAIL_CHARS))) this.#regex()
      else if (/[A-Za-z_$]/.test(char)) this.#name()
      else this.#copy(1)
    }
  }

  /** A parenthesis without a name before it only groups its content. */
  #parenthesis(char: string): void {
    if (char === '(') this.#open.push(this.#callee ?? this.#open.at(-1) ?? '')
    if (char === ')') this.#open.pop()
    if (char === '(') this.#callee = undefined
  }

  /** `{{` in code is a hole unless it can only be a JavaScript block or object. */
  #isHole(): boolean {
    const rest = this.#source.slice(this.#at)
    const end = holeEnd(rest)
    if (end === -1) return false
    try {
      parseTemplate(rest.slice(0, end))
      return true
    } catch {
      return false
    }
  }

  #copy(length: number): void {
    this.#code += this.#source.slice(this.#at, this.#at + length)
    this.#at += length
  }

  #name(): void {
    NAME.lastIndex = this.#at
    const name = NAME.exec(this.#source)?.[0] ?? ''
    const isMember = /(?:^|[^.])\.\s*$/.test(this.#code.slice(-TAIL_CHARS))
    const isCalled = /^\s*\(/.test(this.#source.slice(this.#at + name.length))
    if (isCalled) this.#callee = isMember ? `.${name}` : name
    if (!isMember) {
      this.#names.add(name)
      if (isCalled && !this.#calls.has(name)) this.#calls.set(name, this.#at)
    }
    this.#copy(Math.max(1, name.length))
  }

  /** Converts a string with holes to a sum of strings and values. */
  #string(quote: string): void {
    const parts: string[] = []
    let part = quote
    this.#at++
    for (;;) {
      const char = this.#source[this.#at]
      if (char === undefined || char === '\n')
        throw new TemplateError(`a text that begins with ${quote} has no end`, this.#at)
      if (this.#starts('{{') && this.#isHole()) {
        parts.push(part + quote, this.#hole(true))
        part = quote
        continue
      }
      const length = char === '\\' ? 2 : 1
      part += this.#source.slice(this.#at, this.#at + length)
      this.#at += length
      if (char === quote) break
    }
    this.#code += parts.length === 0 ? part : `(${[...parts, part].join('+')})`
  }

  #literal(): void {
    this.#copy(1)
    while (this.#at < this.#source.length) {
      if (this.#starts('`')) return this.#copy(1)
      if (this.#starts('\\')) this.#copy(2)
      else if (this.#starts('{{') && this.#isHole()) this.#code += `\${${this.#hole(true)}}`
      else if (this.#starts('${')) {
        this.#copy(2)
        this.#run('}')
        this.#copy(1)
      } else this.#copy(1)
    }
  }

  #comment(): void {
    const end = this.#starts('//')
      ? this.#source.indexOf('\n', this.#at)
      : this.#source.indexOf('*/', this.#at) + 2
    this.#at = end < this.#at + 2 ? this.#source.length : end
    this.#code += ' '
  }

  #regex(): void {
    let inClass = false
    const from = this.#at
    for (this.#at++; this.#at < this.#source.length; this.#at++) {
      const char = this.#source[this.#at]
      if (char === '\\') this.#at++
      else if (char === '[') inClass = true
      else if (char === ']') inClass = false
      else if (char === '\n' || (char === '/' && !inClass)) break
    }
    this.#at = Math.min(this.#source.length, this.#at + 1)
    const regex = this.#source.slice(from, this.#at)
    if (regex.includes('{{')) {
      throw new TemplateError('"{{" is not allowed in a regular expression; use new RegExp("…")', from)
    }
    this.#code += regex
  }
}

const holeEnd = (text: string): number => {
  const end = text.indexOf('}}', 2)
  return end === -1 ? -1 : end + 2
}

/** Throws `TemplateError`. */
export const prepareProgram = (source: string): Program => new Preparer(source).prepare()
