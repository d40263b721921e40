import type { AnyNode, Program, Property } from 'acorn'
import { SCRIPT_GLOBALS } from '../check/names.ts'
import type { Json } from '../model.ts'
import type { Expr } from '../template/expression.ts'
import { holeAt } from './syntax.ts'
import { deciding, equals } from './truth.ts'

/**
 * The subset of the expression language that most expressions stay in: variables and their members, literals, operators,
 * function calls, and several of these in sequence. It is evaluated without the engine and gives the same result.
 */
export type Simple =
  | { readonly kind: 'value'; readonly value: Json }
  | { readonly kind: 'hole'; readonly expr: Expr; readonly quoted: boolean }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'member'; readonly of: Simple; readonly key: string }
  | { readonly kind: 'call'; readonly name: string; readonly args: readonly Simple[] }
  | { readonly kind: 'not'; readonly of: Simple }
  | { readonly kind: 'and' | 'or' | 'nullish'; readonly left: Simple; readonly right: Simple }
  | { readonly kind: 'either'; readonly test: Simple; readonly yes: Simple; readonly no: Simple }
  | { readonly kind: 'operator'; readonly operator: string; readonly left: Simple; readonly right: Simple }
  /** Only in arguments of functions. */
  | { readonly kind: 'list'; readonly items: readonly Simple[] }
  | { readonly kind: 'object'; readonly members: readonly (readonly [string, Simple])[] }
  | { readonly kind: 'sequence'; readonly statements: readonly Simple[] }

/** Undefined for a member that does not exist. */
type Result = Json | undefined

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
const OPERATORS: Readonly<Record<string, (left: Result, right: Result) => Json>> = {
  '==': equals,
  '!=': (left, right) => !equals(left, right),
  '===': (left, right) => left === right,
  '!==': (left, right) => left !== right,
  '<': (left, right) => (left as number) < (right as number),
  '>': (left, right) => (left as number) > (right as number),
  '<=': (left, right) => (left as number) <= (right as number),
  '>=': (left, right) => (left as number) >= (right as number),
  '+': (left, right) => (left as string) + (right as string),
  '-': (left, right) => (left as number) - (right as number),
  '*': (left, right) => (left as number) * (right as number),
  '/': (left, right) => (left as number) / (right as number),
  '%': (left, right) => (left as number) % (right as number),
}

const LOGICAL = { '&&': 'and', '||': 'or', '??': 'nullish' } as const

const MAX_DEPTH = 100

const PROTOTYPES: readonly object[] = [Object, Array, String, Number, Boolean].map(
  ({ prototype }) => prototype as object,
)

/** Whether a value may have the member without being given it, for example a method. */
const isInherited = (key: string): boolean =>
  key !== 'length' && PROTOTYPES.some((prototype) => key in prototype)

const keyOf = (node: AnyNode, computed: boolean): string | undefined => {
  if (node.type === 'Identifier') return computed ? undefined : node.name
  return node.type === 'Literal' && ['string', 'number'].includes(typeof node.value)
    ? String(node.value)
    : undefined
}

const isComplete = <Item>(items: readonly (Item | undefined)[]): items is readonly Item[] =>
  !items.includes(undefined)

/** The expression as a tree, or undefined if it needs the engine. */
export const simpleOf = (tree: Program | undefined, holes: readonly Expr[]): Simple | undefined => {
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
        if (expr !== undefined) return { kind: 'hole', expr, quoted: hole?.kind === '$text' }
        const key = keyOf(node.property, node.computed)
        const of = below(node.object)
        const isPlain = key !== undefined && !isInherited(key) && !node.optional
        return isPlain && of !== undefined ? { kind: 'member', of, key } : undefined
      }
      case 'TemplateLiteral': {
        const text = (index: number): Simple => ({
          kind: 'value',
          value: node.quasis[index]?.value.cooked ?? '',
        })
        return node.expressions.reduce<Simple | undefined>((left, inner, index) => {
          const right = below(inner)
          if (left === undefined || right === undefined) return undefined
          const joined: Simple = { kind: 'operator', operator: '+', left, right }
          return { kind: 'operator', operator: '+', left: joined, right: text(index + 1) }
        }, text(0))
      }
      case 'UnaryExpression': {
        const of = below(node.argument)
        if (node.operator === '!') return of && { kind: 'not', of }
        const isNegative = node.operator === '-' && of?.kind === 'value' && typeof of.value === 'number'
        return isNegative ? { kind: 'value', value: -Number(of.value) } : undefined
      }
      case 'LogicalExpression': {
        const [left, right] = [below(node.left), below(node.right)]
        return left && right && { kind: LOGICAL[node.operator], left, right }
      }
      case 'ConditionalExpression': {
        const [test, yes, no] = [below(node.test), below(node.consequent), below(node.alternate)]
        return test && yes && no && { kind: 'either', test, yes, no }
      }
      case 'BinaryExpression': {
        const [left, right] = [below(node.left), below(node.right)]
        if (!Object.hasOwn(OPERATORS, node.operator) || left === undefined || right === undefined)
          return undefined
        return { kind: 'operator', operator: node.operator, left, right }
      }
      case 'CallExpression': {
        const { callee } = node
        if (node.optional || callee.type !== 'Identifier' || SCRIPT_GLOBALS.has(callee.name)) return undefined
        const args = node.arguments.map((arg) => argument(arg, depth + 1))
        return isComplete(args) ? { kind: 'call', name: callee.name, args } : undefined
      }
      default:
        return undefined
    }
  }
  const argument = (node: AnyNode, depth: number): Simple | undefined => {
    if (depth > MAX_DEPTH) return undefined
    if (node.type === 'ArrayExpression') {
      const items = node.elements.map((item) => (item === null ? undefined : argument(item, depth + 1)))
      return isComplete(items) ? { kind: 'list', items } : undefined
    }
    if (node.type !== 'ObjectExpression') return convert(node, depth)
    const members = node.properties.map((member) => {
      const key =
        member.type === 'Property' && member.kind === 'init' && !member.method
          ? keyOf(member.key, member.computed)
          : undefined
      const value =
        key === undefined || key === '__proto__' ? undefined : argument((member as Property).value, depth + 1)
      return key === undefined || value === undefined ? undefined : ([key, value] as const)
    })
    return isComplete(members) ? { kind: 'object', members } : undefined
  }
  const statements = (tree?.body ?? []).map((statement) =>
    statement.type === 'ExpressionStatement' ? convert(statement.expression) : undefined,
  )
  if (!isComplete(statements)) return undefined
  return statements.length > 1 ? { kind: 'sequence', statements } : statements[0]
}

const copied = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(copied)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, copied(item)]))
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

/** The value as JSON represents it. The engine passes all values in this form. */
const asJson = (value: Result): Json => {
  if (typeof value === 'string') return value
  const json = JSON.stringify(value) as string | undefined
  return json === undefined ? null : (JSON.parse(json) as Json)
}

/** Evaluates the expression. Like the engine it returns null for a number that JSON cannot represent. */
export const evaluateSimple = async (expr: Simple, scope: SimpleScope): Promise<Json> => {
  const value = await evaluateIn(expr, withIdentities(scope))
  return typeof value === 'object' && value !== null ? value : asJson(value)
}

const memberOf = (value: Result, key: string): Result => {
  if (value === null || value === undefined)
    throw new Error(`TypeError: cannot read property '${key}' of ${value}`)
  const from = Object(value) as { readonly [key: string]: Json }
  return Object.hasOwn(from, key) ? from[key] : undefined
}

const evaluateIn = async (expr: Simple, scope: SimpleScope): Promise<Result> => {
  switch (expr.kind) {
    case 'value':
      return expr.value
    case 'hole':
      return scope.hole(expr.expr, expr.quoted)
    case 'name':
      return scope.name(expr.name)
    case 'member':
      return memberOf(await evaluateIn(expr.of, scope), expr.key)
    case 'not':
      return !deciding(await evaluateIn(expr.of, scope))
    case 'and':
      return deciding(await evaluateIn(expr.left, scope)) && (await evaluateIn(expr.right, scope))
    case 'or':
      return deciding(await evaluateIn(expr.left, scope)) || (await evaluateIn(expr.right, scope))
    case 'nullish':
      return (await evaluateIn(expr.left, scope)) ?? (await evaluateIn(expr.right, scope))
    case 'either':
      return await evaluateIn(deciding(await evaluateIn(expr.test, scope)) ? expr.yes : expr.no, scope)
    case 'operator': {
      const left = await evaluateIn(expr.left, scope)
      return OPERATORS[expr.operator]?.(left, await evaluateIn(expr.right, scope)) ?? null
    }
    case 'call': {
      const args: Json[] = []
      for (const arg of expr.args) args.push(asJson(await evaluateIn(arg, scope)))
      return await scope.call(expr.name, args)
    }
    case 'list': {
      const items: Result[] = []
      for (const item of expr.items) items.push(await evaluateIn(item, scope))
      return items as Json[]
    }
    case 'object': {
      const members: Record<string, Result> = {}
      for (const [key, value] of expr.members) members[key] = await evaluateIn(value, scope)
      return members as Record<string, Json>
    }
    case 'sequence': {
      let last: Result
      for (const statement of expr.statements) last = await evaluateIn(statement, scope)
      return last
    }
  }
}
