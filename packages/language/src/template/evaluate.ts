import type { Json } from '../model.ts'
import { FILTERS, UNDEFINED } from './filters.ts'
import { TemplateError, type Expr, type Operator } from './expression.ts'
import { asNumber, fromJson, isTruthy, joined, originOf, Text, textOf, toPlain, type Value } from './value.ts'

/** Resolves names to values. */
export interface Variables {
  get(name: string): Value | undefined
}

const NOTHING = UNDEFINED

const member = (value: Value, path: readonly (string | number)[], name: string): Value => {
  let at: Json | undefined = value instanceof Text ? value.toString() : (value as Json)
  for (const key of path) {
    if (typeof at === 'string' && /^\s*[[{]/.test(at)) at = parsed(at)
    if (typeof at === 'string') throw new TemplateError(`"${name}" is a text and has no "${key}"`, 0)
    if (Array.isArray(at)) at = at[Number(key)]
    else if (typeof at === 'object' && at !== null && Object.hasOwn(at, key)) at = at[key]
    else at = undefined
  }
  return at === undefined ? NOTHING : fromJson(at, originOf([value]) === 'author' ? 'author' : 'data')
}

/** A cache of the last parsed JSON: loops read the members of one text repeatedly. */
let last: { readonly text: string; readonly json: Json } | undefined

const parsed = (text: string): Json => {
  if (last?.text === text) return last.json
  try {
    last = { text, json: JSON.parse(text) as Json }
    return last.json
  } catch {
    return text
  }
}

/** A float, also if it is whole: `4.0`, results computed from it, and results of `float`. */
export const isFloat = (expr: Expr): boolean => {
  switch (expr.kind) {
    case 'literal':
      return expr.isFloat === true
    case 'negative':
      return isFloat(expr.of)
    case 'filter':
      return expr.name === 'float' || (expr.name === 'add' && isFloat(expr.of))
    case 'binary':
      return ['+', '-', '*', '/', '%'].includes(expr.op) && (isFloat(expr.left) || isFloat(expr.right))
    default:
      return false
  }
}

/** Number of significant digits of a result. */
const PRECISION = 15

type Arithmetic = '+' | '-' | '*' | '/' | '%' | '^'

const ARITHMETIC: Readonly<Record<Arithmetic, (a: number, b: number, float: boolean) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b, float) => (!float && Number.isInteger(a) && Number.isInteger(b) ? Math.trunc(a / b) : a / b),
  '%': (a, b) => a % b,
  '^': (a, b) => a ** b,
}

const isArithmetic = (op: Operator): op is Arithmetic => Object.hasOwn(ARITHMETIC, op)

const calculate = (op: Arithmetic, left: Value, right: Value, float: boolean): Value => {
  const [a, b] = [asNumber(left), asNumber(right)]
  const textual = left instanceof Text && right instanceof Text
  if (op === '+' && (a === undefined || b === undefined || textual)) {
    return joined(left, right)
  }
  const result = ARITHMETIC[op](a ?? 0, b ?? 0, float)
  if (Number.isInteger(result)) return result
  if (Number.isFinite(result)) return Number(result.toPrecision(PRECISION))
  throw new TemplateError(`"${op}" has no result here: division by zero or too large a number`, 0)
}

const includes = (needle: Value, haystack: Value): boolean => {
  if (Array.isArray(haystack)) return haystack.some((item) => toPlain(fromJson(item)) === toPlain(needle))
  if (haystack instanceof Text) return haystack.toString().includes(toPlain(needle))
  return typeof haystack === 'object' && haystack !== null && Object.hasOwn(haystack, toPlain(needle))
}

const compare = (op: Operator, left: Value, right: Value): boolean => {
  const [a, b] = [asNumber(left), asNumber(right)]
  const [x, y] = a !== undefined && b !== undefined ? [a, b] : [toPlain(left), toPlain(right)]
  switch (op) {
    case '==':
      return x === y
    case '!=':
      return x !== y
    case '<':
      return x < y
    case '>':
      return x > y
    case '<=':
      return x <= y
    default:
      return x >= y
  }
}

const binary = (op: Operator, left: Expr, right: Expr, variables: Variables): Value => {
  const a = evaluateExpr(left, variables)
  if (op === 'and') return isTruthy(a) ? evaluateExpr(right, variables) : a
  if (op === 'or') return isTruthy(a) ? a : evaluateExpr(right, variables)
  const b = evaluateExpr(right, variables)
  if (op === 'in' || op === 'not in') return includes(a, b) === (op === 'in')
  return isArithmetic(op) ? calculate(op, a, b, isFloat(left) || isFloat(right)) : compare(op, a, b)
}

/** Undefined variables and calls are null. Throws `TemplateError` for anything else without a meaning. */
export const evaluateExpr = (expr: Expr, variables: Variables): Value => {
  switch (expr.kind) {
    case 'literal':
      return typeof expr.value === 'string' ? textOf(expr.value, 'author') : expr.value
    case 'variable': {
      const value = variables.get(expr.name)
      if (value === undefined) return NOTHING
      return expr.path.length === 0 ? value : member(value, expr.path, expr.name)
    }
    case 'not':
      return !isTruthy(evaluateExpr(expr.of, variables))
    case 'negative':
      return -(asNumber(evaluateExpr(expr.of, variables)) ?? 0)
    case 'binary':
      return binary(expr.op, expr.left, expr.right, variables)
    case 'filter': {
      const filter = Object.hasOwn(FILTERS, expr.name) ? FILTERS[expr.name] : undefined
      if (filter === undefined) throw new TemplateError(`there is no filter "${expr.name}"`, 0)
      const argument = expr.argument === undefined ? undefined : evaluateExpr(expr.argument, variables)
      return filter(evaluateExpr(expr.of, variables), argument)
    }
    case 'call':
      return NOTHING
  }
}
