import type { AnyNode } from 'acorn'
import { SCRIPT_GLOBALS } from '../check/names.ts'
import type { Json } from '../model.ts'
import type { Expr } from '../template/expression.ts'
import { holeAt, syntaxOf } from './syntax.ts'

/**
 * The subset of the expression language that most expressions stay in: variables, literals, comparisons, `!`, `&&`,
 * `||`, `+` and function calls. It is evaluated without the engine and gives the same result.
 */
export type Simple =
  | { readonly kind: 'value'; readonly value: Json }
  | { readonly kind: 'hole'; readonly expr: Expr; readonly quoted: boolean }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'call'; readonly name: string; readonly args: readonly Simple[] }
  | { readonly kind: 'not'; readonly of: Simple }
  | { readonly kind: 'and' | 'or'; readonly left: Simple; readonly right: Simple }
  | { readonly kind: 'operator'; readonly operator: string; readonly left: Simple; readonly right: Simple }

/** Where the names, holes and calls of an expression get their values. */
export interface SimpleScope {
  name(name: string): Json
  hole(expr: Expr, quoted: boolean): Json
  call(name: string, args: Json[]): Promise<Json>
}

/**
 * The operands are what the engine would have, so that the operators of JavaScript convert them in the same way. The
 * type assertions only satisfy the compiler.
 */
const OPERATORS: Readonly<Record<string, (left: Json, right: Json) => Json>> = {
  // oxlint-disable-next-line eqeqeq
  '==': (left, right) => left == right,
  // oxlint-disable-next-line eqeqeq
  '!=': (left, right) => left != right,
  '===': (left, right) => left === right,
  '!==': (left, right) => left !== right,
  '<': (left, right) => (left as number) < (right as number),
  '>': (left, right) => (left as number) > (right as number),
  '<=': (left, right) => (left as number) <= (right as number),
  '>=': (left, right) => (left as number) >= (right as number),
  '+': (left, right) => (left as string) + (right as string),
}

const MAX_DEPTH = 100

/** The expression as a tree, or undefined if it needs the engine. */
export const simpleOf = (code: string, holes: readonly Expr[]): Simple | undefined => {
  const convert = (node: AnyNode, depth = 0): Simple | undefined => {
    if (depth > MAX_DEPTH) return undefined
    const below = (child: AnyNode) => convert(child, depth + 1)
    switch (node.type) {
      case 'Literal': {
        const { value } = node
        if (value === null) return node.raw === 'null' ? { kind: 'value', value } : undefined
        return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
          ? { kind: 'value', value }
          : undefined
      }
      case 'Identifier':
        return SCRIPT_GLOBALS.has(node.name) ? undefined : { kind: 'name', name: node.name }
      case 'MemberExpression': {
        const hole = holeAt(node)
        const expr = hole && holes[hole.index]
        return expr && { kind: 'hole', expr, quoted: hole.kind === '$text' }
      }
      case 'UnaryExpression': {
        const of = below(node.argument)
        if (node.operator === '!') return of && { kind: 'not', of }
        const isNegative = node.operator === '-' && of?.kind === 'value' && typeof of.value === 'number'
        return isNegative ? { kind: 'value', value: -Number(of.value) } : undefined
      }
      case 'LogicalExpression': {
        const [left, right] = [below(node.left), below(node.right)]
        if (node.operator === '??' || left === undefined || right === undefined) return undefined
        return { kind: node.operator === '&&' ? 'and' : 'or', left, right }
      }
      case 'BinaryExpression': {
        const [left, right] = [below(node.left), below(node.right)]
        if (!Object.hasOwn(OPERATORS, node.operator) || left === undefined || right === undefined)
          return undefined
        return { kind: 'operator', operator: node.operator, left, right }
      }
      case 'CallExpression': {
        const args = node.arguments.map(below)
        const { callee } = node
        if (node.optional || callee.type !== 'Identifier' || SCRIPT_GLOBALS.has(callee.name)) return undefined
        const known = args.filter((arg) => arg !== undefined)
        return known.length < args.length ? undefined : { kind: 'call', name: callee.name, args: known }
      }
      default:
        return undefined
    }
  }
  const [statement, ...more] = syntaxOf(code)?.body ?? []
  return statement?.type === 'ExpressionStatement' && more.length === 0
    ? convert(statement.expression)
    : undefined
}

const copied = (value: Json): Json => {
  if (Array.isArray(value)) return [...value]
  return typeof value === 'object' && value !== null ? { ...value } : value
}

/**
 * Gives lists and objects the identity that they have in the engine: each variable is one object, and each hole and
 * each result of a function is another.
 */
const withIdentities = (scope: SimpleScope): SimpleScope => {
  const names = new Map<string, Json>()
  return {
    name(name) {
      const known = names.get(name)
      if (known !== undefined) return known
      const value = copied(scope.name(name))
      names.set(name, value)
      return value
    },
    hole: (expr, quoted) => copied(scope.hole(expr, quoted)),
    call: async (name, args) => copied(await scope.call(name, args)),
  }
}

/** Evaluates the expression. Like the engine it returns null for a number that JSON cannot represent. */
export const evaluateSimple = async (expr: Simple, scope: SimpleScope): Promise<Json> => {
  const value = await evaluateIn(expr, withIdentities(scope))
  return typeof value === 'number' && !Number.isFinite(value) ? null : value
}

const evaluateIn = async (expr: Simple, scope: SimpleScope): Promise<Json> => {
  switch (expr.kind) {
    case 'value':
      return expr.value
    case 'hole':
      return scope.hole(expr.expr, expr.quoted)
    case 'name':
      return scope.name(expr.name)
    case 'not':
      return !(await evaluateIn(expr.of, scope))
    case 'and':
      return (await evaluateIn(expr.left, scope)) && (await evaluateIn(expr.right, scope))
    case 'or':
      return (await evaluateIn(expr.left, scope)) || (await evaluateIn(expr.right, scope))
    case 'operator': {
      const left = await evaluateIn(expr.left, scope)
      return OPERATORS[expr.operator]?.(left, await evaluateIn(expr.right, scope)) ?? null
    }
    case 'call': {
      const args: Json[] = []
      for (const arg of expr.args) args.push(await evaluateIn(arg, scope))
      return await scope.call(expr.name, args)
    }
  }
}
