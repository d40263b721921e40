/** Expressions between `{{` and `}}`: variables, arithmetic, comparisons, filters. */

export type Operator =
  | 'or' | 'and' | 'in' | 'not in' | '==' | '!=' | '<' | '>' | '<=' | '>='
  | '+' | '-' | '*' | '/' | '%' | '^' // prettier-ignore

export type Expr =
  | {
      readonly kind: 'literal'
      readonly value: string | number | boolean | null
      /** Written with a decimal point. */
      readonly isFloat?: boolean
    }
  | { readonly kind: 'variable'; readonly name: string; readonly path: readonly (string | number)[] }
  | { readonly kind: 'not' | 'negative'; readonly of: Expr }
  | { readonly kind: 'binary'; readonly op: Operator; readonly left: Expr; readonly right: Expr }
  | { readonly kind: 'filter'; readonly name: string; readonly of: Expr; readonly argument?: Expr }
  /** Templates make no calls; a call renders as nothing, like an undefined variable. */
  | { readonly kind: 'call'; readonly name: string }

export class TemplateError extends Error {
  override readonly name = 'TemplateError'
  /** Offset in the template. */
  readonly offset: number

  constructor(message: string, offset: number) {
    super(message)
    this.offset = offset
  }
}

interface Token {
  readonly kind: 'name' | 'number' | 'string' | 'symbol' | 'end'
  readonly text: string
}

const TOKEN =
  /\s*(?:([A-Za-z_][A-Za-z0-9_]*)|(\d+(?:\.\d+)?)|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(==|!=|<=|>=|&&|\|\||[-+*/%^|.:(),<>![\]]))/y

const unquote = (text: string): string =>
  text.slice(1, -1).replaceAll(/\\(.)/g, (_, char: string) => ({ n: '\n', t: '\t' })[char] ?? char)

const tokens = (source: string, at: number, written: string): Token[] => {
  const found: Token[] = []
  TOKEN.lastIndex = 0
  const end = source.trimEnd().length
  while (TOKEN.lastIndex < end) {
    const from = TOKEN.lastIndex
    const match = TOKEN.exec(source)
    if (match === null) {
      throw new TemplateError(`"${written}" is not understood near "${source.slice(from).trim()}"`, at)
    }
    const [, name, number, string, symbol] = match
    if (name !== undefined) found.push({ kind: 'name', text: name })
    else if (number !== undefined) found.push({ kind: 'number', text: number })
    else if (string !== undefined) found.push({ kind: 'string', text: unquote(string) })
    else found.push({ kind: 'symbol', text: symbol ?? '' })
  }
  return [...found, { kind: 'end', text: '' }]
}

const LEVELS: readonly (readonly Operator[])[] = [
  ['or'],
  ['and'],
  ['in', 'not in', '==', '!=', '<=', '>=', '<', '>'],
  ['+', '-'],
  ['*', '/', '%'],
  ['^'],
]
const SPELLINGS: Readonly<Record<string, Operator>> = { '&&': 'and', '||': 'or' }

/** Maximum nesting of parentheses and signs in one hole. */
const MAX_DEPTH = 50

class ExprParser {
  readonly #tokens: readonly Token[]
  readonly #written: string
  readonly #offset: number
  #at = 0
  #depth = 0

  constructor(source: string, offset: number, written: string) {
    this.#written = written
    this.#offset = offset
    this.#tokens = tokens(source, offset, written)
  }

  parse(): Expr {
    const expr = this.#level(0)
    if (this.#peek().kind !== 'end') this.#fail()
    return expr
  }

  #peek(ahead = 0): Token {
    return this.#tokens[this.#at + ahead] ?? { kind: 'end', text: '' }
  }

  #take(text: string): boolean {
    const token = this.#peek()
    if (token.text !== text || token.kind === 'string') return false
    this.#at++
    return true
  }

  #fail(): never {
    const { kind, text } = this.#peek()
    const near = kind === 'end' ? 'its end' : `"${text}"`
    throw new TemplateError(`"${this.#written}" is not understood near ${near}`, this.#offset)
  }

  #operator(level: number): Operator | undefined {
    const { kind, text } = this.#peek()
    if (kind === 'string') return undefined
    if (level === 2 && text === 'not' && this.#peek(1).text === 'in') {
      this.#at += 2
      return 'not in'
    }
    const word = SPELLINGS[text] ?? text
    const op = LEVELS[level]?.find((known) => known === word)
    if (op !== undefined) this.#at++
    return op
  }

  #level(level: number): Expr {
    if (level >= LEVELS.length) return this.#unary()
    if (level === 2 && this.#take('not')) return { kind: 'not', of: this.#level(level) }
    let left = this.#level(level + 1)
    for (let op = this.#operator(level); op !== undefined; op = this.#operator(level)) {
      left = { kind: 'binary', op, left, right: this.#level(level + 1) }
    }
    return left
  }

  #unary(): Expr {
    if (++this.#depth > MAX_DEPTH) throw new TemplateError('The template is nested too deeply.', this.#offset)
    try {
      if (this.#take('!')) return { kind: 'not', of: this.#unary() }
      if (this.#take('-')) return { kind: 'negative', of: this.#unary() }
      return this.#filters(this.#primary())
    } finally {
      this.#depth--
    }
  }

  #filters(of: Expr): Expr {
    let expr = of
    while (this.#take('|')) {
      const { kind, text } = this.#peek()
      if (kind !== 'name') this.#fail()
      this.#at++
      const argument = this.#take(':') ? this.#primary() : undefined
      expr = { kind: 'filter', name: text, of: expr, ...(argument === undefined ? {} : { argument }) }
    }
    return expr
  }

  #primary(): Expr {
    const { kind, text } = this.#peek()
    if (kind === 'number' || kind === 'string') {
      this.#at++
      if (kind === 'string') return { kind: 'literal', value: text }
      return { kind: 'literal', value: Number(text), isFloat: text.includes('.') }
    }
    if (this.#take('(')) {
      const expr = this.#level(0)
      if (!this.#take(')')) this.#fail()
      return expr
    }
    if (kind !== 'name') this.#fail()
    this.#at++
    const literal = { true: true, false: false, True: true, False: false, nil: null, none: null, None: null }[
      text
    ]
    if (literal !== undefined) return { kind: 'literal', value: literal }
    if (this.#take('(')) return this.#call(text)
    return { kind: 'variable', name: text, path: this.#path() }
  }

  #call(name: string): Expr {
    for (let depth = 1; depth > 0; this.#at++) {
      const { kind, text } = this.#peek()
      if (kind === 'end') this.#fail()
      if (kind === 'symbol') depth += text === '(' ? 1 : text === ')' ? -1 : 0
    }
    return { kind: 'call', name }
  }

  #path(): (string | number)[] {
    const path: (string | number)[] = []
    for (;;) {
      const bracket = this.#peek().text === '[' && this.#peek().kind === 'symbol'
      if (!bracket && !this.#take('.')) return path
      if (bracket) this.#at++
      const { kind, text } = this.#peek()
      if (kind !== 'name' && kind !== 'number' && !(bracket && kind === 'string')) this.#fail()
      this.#at++
      path.push(kind === 'number' ? Number(text) : text)
      if (bracket && !this.#take(']')) this.#fail()
    }
  }
}

/** `written` is the source for messages. Throws `TemplateError` with that offset. */
export const parseExpr = (source: string, offset: number, written: string): Expr =>
  new ExprParser(source, offset, written).parse()

/** The names of all variables, filters or calls of an expression. */
export const namesOfKind = (expr: Expr, kind: 'variable' | 'filter' | 'call'): string[] => {
  const inside = (...parts: (Expr | undefined)[]): string[] =>
    parts.flatMap((part) => (part === undefined ? [] : namesOfKind(part, kind)))
  const own = expr.kind === kind && 'name' in expr ? [expr.name] : []
  switch (expr.kind) {
    case 'not':
    case 'negative':
      return inside(expr.of)
    case 'binary':
      return inside(expr.left, expr.right)
    case 'filter':
      return [...own, ...inside(expr.of, expr.argument)]
    default:
      return own
  }
}
