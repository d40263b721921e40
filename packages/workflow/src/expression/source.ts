import { SHELL_COMMANDS } from '../functions/shell-commands.ts'
import { parseSimple, type Simple } from './simple.ts'
import { TemplateError, type Expr } from '../template/expression.ts'
import { holesOf, parseTemplate } from '../template/parse.ts'

export interface Hole {
  readonly expr: Expr
  readonly quoted: boolean
  /** In the call of a function that hands it to a shell, where it is to be escaped for its place in the command. */
  readonly shell: boolean
}

/** An expression made ready for the engine: every `{{x}}` is a value now, no part of the program's text. */
export interface Program {
  readonly source: string
  readonly code: string
  /** What stands in the holes; `$hole[0]` in code, `$text[0]` inside of quotes, `$shell[0]` in a command for a shell. */
  readonly holes: readonly Hole[]
  /** Names that the program may mean by its variables and functions. */
  readonly names: ReadonlySet<string>
  /** The same as a tree, when it is simple enough to need no engine. */
  readonly simple: Simple | undefined
  /** Names that are called, with their first place in the source. */
  readonly calls: ReadonlyMap<string, number>
}

const REGEX_MAY_FOLLOW = /(?:^|[(,=:[!&|?{};+\-*%^~<>]|\breturn|\btypeof|\bin)\s*$/
/** Characters before a place that decide what it may be; a search over all of them would be quadratic. */
const TAIL_CHARS = 256
const NAME = /[A-Za-z_$][\w$]*/y

class Preparer {
  readonly #source: string
  readonly #holes: Hole[] = []
  readonly #names = new Set<string>()
  readonly #calls = new Map<string, number>()
  /** Of each parenthesis that is open: the function that is called with what is in it. */
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
      simple: this.#holes.some(({ shell }) => shell) ? undefined : parseSimple(this.#source),
      code: this.#code,
      holes: this.#holes,
      names: this.#names,
      calls: this.#calls,
    }
  }

  #starts(text: string): boolean {
    return this.#source.startsWith(text, this.#at)
  }

  /** Reads the hole that begins here and gives the text that stands for it. */
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

  /** Code up to `until`, which is left to the caller. */
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

  /** A parenthesis without a name before it only groups what is in it. */
  #parenthesis(char: string): void {
    if (char === '(') this.#open.push(this.#callee ?? this.#open.at(-1) ?? '')
    if (char === ')') this.#open.pop()
    if (char === '(') this.#callee = undefined
  }

  /** `{{` in code is a hole unless it can only be a block or an object of the language itself. */
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

  /** A string with holes becomes a sum of strings and values. */
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
      throw new TemplateError('"{{" cannot stand in a regular expression; use new RegExp("…")', from)
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
