import { SCRIPT_GLOBALS } from '../check/names.ts'
import type { Json } from '../model.ts'
import type { Expr } from '../template/expression.ts'
import { holesOf, parseTemplate } from '../template/parse.ts'

/**
 * The part of the expression language that most expressions consist of: variables, texts, numbers, comparisons,
 * `!`, `&&`, `||`, `+`, and calls of functions. It is carried out here, without an engine, and means exactly what it
 * means there; whatever goes beyond it is left to the engine.
 */
export type Simple =
  | { readonly kind: 'value'; readonly value: Json }
  | { readonly kind: 'hole'; readonly expr: Expr; readonly quoted: boolean }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'call'; readonly name: string; readonly args: readonly Simple[] }
  | { readonly kind: 'not'; readonly of: Simple }
  | { readonly kind: 'and' | 'or'; readonly left: Simple; readonly right: Simple }
  | { readonly kind: 'operator'; readonly operator: string; readonly left: Simple; readonly right: Simple }

export interface SimpleWorld {
  name(name: string): Json
  hole(expr: Expr, quoted: boolean): Json
  call(name: string, args: Json[]): Promise<Json>
}

/** Thrown inside for everything that is not simple. */
class NotSimple extends Error {}

const OPERATORS = ['===', '!==', '==', '!=', '<=', '>=', '<', '>'] as const
const KEYWORDS = new Set(
  'var let const function return if else for while do new typeof void delete in instanceof this throw try class switch await async yield import export null'.split(
    ' ',
  ),
)

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  '\\': '\\',
  '"': '"',
  "'": "'",
  '/': '/',
}
const MAX_DEPTH = 100

class Parser {
  readonly #source: string
  #at = 0
  #depth = 0

  constructor(source: string) {
    this.#source = source
  }

  parse(): Simple {
    const expr = this.#or()
    this.#blank()
    if (this.#at < this.#source.length) throw new NotSimple()
    return expr
  }

  #blank(): void {
    while (/\s/.test(this.#source[this.#at] ?? '')) this.#at++
  }

  #take(text: string): boolean {
    this.#blank()
    if (!this.#source.startsWith(text, this.#at)) return false
    this.#at += text.length
    return true
  }

  #or(): Simple {
    if (++this.#depth > MAX_DEPTH) throw new NotSimple()
    let left = this.#and()
    while (this.#take('||')) left = { kind: 'or', left, right: this.#and() }
    this.#depth--
    return left
  }

  #and(): Simple {
    let left = this.#comparison()
    while (this.#take('&&')) left = { kind: 'and', left, right: this.#comparison() }
    return left
  }

  #comparison(): Simple {
    const left = this.#sum()
    const operator = OPERATORS.find((known) => this.#take(known))
    if (operator === undefined) return left
    const right = this.#sum()
    // `a < b < c` and shifts are left to the engine.
    this.#blank()
    if (/[<>=!]/.test(this.#source[this.#at] ?? '')) throw new NotSimple()
    return { kind: 'operator', operator, left, right }
  }

  #sum(): Simple {
    let left = this.#unary()
    while (this.#take('+')) {
      if (/[+=]/.test(this.#source[this.#at] ?? '')) throw new NotSimple()
      left = { kind: 'operator', operator: '+', left, right: this.#unary() }
    }
    return left
  }

  #unary(): Simple {
    if (this.#take('!')) {
      if (this.#source[this.#at] === '=') throw new NotSimple()
      if (++this.#depth > MAX_DEPTH) throw new NotSimple()
      return { kind: 'not', of: this.#unary() }
    }
    return this.#primary()
  }

  #primary(): Simple {
    this.#blank()
    const rest = this.#source.slice(this.#at)
    const char = rest[0] ?? ''
    if (rest.startsWith('{{')) return this.#hole(false)
    if (char === '"' || char === "'") return this.#string(char)
    if (this.#take('(')) {
      const expr = this.#or()
      if (!this.#take(')')) throw new NotSimple()
      return this.#alone(expr)
    }
    const number = /^-?(0|[1-9]\d*)(\.\d+)?(?![\w.])/.exec(rest)?.[0]
    if (number !== undefined) {
      this.#at += number.length
      return { kind: 'value', value: Number(number) }
    }
    const name = /^[A-Za-z_]\w*/.exec(rest)?.[0]
    if (name === undefined || KEYWORDS.has(name) || SCRIPT_GLOBALS.has(name)) throw new NotSimple()
    this.#at += name.length
    if (name === 'true' || name === 'false') return { kind: 'value', value: name === 'true' }
    if (this.#take('(')) return this.#alone({ kind: 'call', name, args: this.#args() })
    return this.#alone({ kind: 'name', name })
  }

  /** Members, indexes and further calls are the engine's. */
  #alone(expr: Simple): Simple {
    this.#blank()
    if (/[.[(`?:=*/%&|^~-]/.test(this.#source[this.#at] ?? '')) {
      const two = this.#source.slice(this.#at, this.#at + 2)
      if (!['&&', '||', '=='].includes(two)) throw new NotSimple()
    }
    return expr
  }

  #args(): Simple[] {
    const args: Simple[] = []
    if (this.#take(')')) return args
    do args.push(this.#or())
    while (this.#take(','))
    if (!this.#take(')')) throw new NotSimple()
    return args
  }

  #hole(quoted: boolean): Simple {
    const end = this.#source.indexOf('}}', this.#at)
    if (end === -1) throw new NotSimple()
    const [hole] = holesOf(parseTemplate(this.#source.slice(this.#at, end + 2)).nodes)
    if (hole === undefined) throw new NotSimple()
    this.#at = end + 2
    const expr: Simple = { kind: 'hole', expr: hole.expr, quoted }
    return quoted ? expr : this.#alone(expr)
  }

  #string(quote: string): Simple {
    const parts: Simple[] = []
    let text = ''
    this.#at++
    for (;;) {
      const char = this.#source[this.#at]
      if (char === undefined || char === '\n') throw new NotSimple()
      if (this.#source.startsWith('{{', this.#at)) {
        parts.push({ kind: 'value', value: text }, this.#hole(true))
        text = ''
        continue
      }
      this.#at++
      if (char === quote) break
      if (char === '\\') {
        const escaped = ESCAPES[this.#source[this.#at] ?? '']
        if (escaped === undefined) throw new NotSimple()
        text += escaped
        this.#at++
      } else text += char
    }
    parts.push({ kind: 'value', value: text })
    const [first = { kind: 'value', value: '' }, ...more] = parts
    return this.#alone(
      more.reduce<Simple>((left, right) => ({ kind: 'operator', operator: '+', left, right }), first),
    )
  }
}

/** The expression as a tree, or `undefined` when it needs the engine. */
export const parseSimple = (source: string): Simple | undefined => {
  try {
    return new Parser(source).parse()
  } catch {
    return undefined
  }
}

type Primitive = null | boolean | number | string

/** As JavaScript turns objects into text when it compares them. */
const primitive = (value: Json): Primitive => {
  if (Array.isArray(value)) return value.map((item) => primitive(item) ?? '').join(',')
  return typeof value === 'object' && value !== null ? '[object Object]' : value
}

const isObject = (value: Json): boolean => typeof value === 'object' && value !== null

const looselyEqual = (left: Json, right: Json): boolean => {
  if (isObject(left) && isObject(right)) return left === right
  const [a, b] = [primitive(left), primitive(right)]
  if (typeof a === typeof b) return a === b
  if (a === null || b === null) return a === b
  return Number(a) === Number(b)
}

const operate = (operator: string, left: Json, right: Json): Json => {
  const [a, b] = [primitive(left), primitive(right)]
  switch (operator) {
    case '==':
      return looselyEqual(left, right)
    case '!=':
      return !looselyEqual(left, right)
    case '===':
      return left === right
    case '!==':
      return left !== right
    case '+':
      return typeof a === 'string' || typeof b === 'string' ? String(a) + String(b) : Number(a) + Number(b)
  }
  const [x, y] = typeof a === 'string' && typeof b === 'string' ? [a, b] : [Number(a), Number(b)]
  if (operator === '<') return x < y
  if (operator === '>') return x > y
  return operator === '<=' ? x <= y : x >= y
}

const truthy = (value: Json): boolean => Boolean(value)

const copied = (value: Json): Json => {
  if (Array.isArray(value)) return [...value]
  return typeof value === 'object' && value !== null ? { ...value } : value
}

/**
 * Lists and objects have the identity that they have in the engine: each variable is one object, every hole and every
 * answer of a function is another.
 */
const withIdentities = (world: SimpleWorld): SimpleWorld => {
  const names = new Map<string, Json>()
  return {
    name(name) {
      const known = names.get(name)
      if (known !== undefined) return known
      const value = copied(world.name(name))
      names.set(name, value)
      return value
    },
    hole: (expr, quoted) => copied(world.hole(expr, quoted)),
    call: async (name, args) => copied(await world.call(name, args)),
  }
}

export const evaluateSimple = (expr: Simple, world: SimpleWorld): Promise<Json> =>
  evaluateIn(expr, withIdentities(world))

const evaluateIn = async (expr: Simple, world: SimpleWorld): Promise<Json> => {
  switch (expr.kind) {
    case 'value':
      return expr.value
    case 'hole':
      return world.hole(expr.expr, expr.quoted)
    case 'name':
      return world.name(expr.name)
    case 'not':
      return !truthy(await evaluateIn(expr.of, world))
    case 'and': {
      const left = await evaluateIn(expr.left, world)
      return truthy(left) ? await evaluateIn(expr.right, world) : left
    }
    case 'or': {
      const left = await evaluateIn(expr.left, world)
      return truthy(left) ? left : await evaluateIn(expr.right, world)
    }
    case 'operator': {
      const left = await evaluateIn(expr.left, world)
      return operate(expr.operator, left, await evaluateIn(expr.right, world))
    }
    case 'call': {
      const args: Json[] = []
      for (const arg of expr.args) args.push(await evaluateIn(arg, world))
      return await world.call(expr.name, args)
    }
  }
}
