import type { AnyNode } from 'acorn'
import { holeAt, nodesIn, syntaxOf } from './syntax.ts'

/** A part of an argument of a call: text that the author wrote, a variable, a hole, or a value that only the engine computes. */
export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'hole' }
  | { readonly kind: 'unknown' }

export interface Joined {
  /** One list for each call of the function and for each branch of `a ? b : c`. */
  readonly ways: readonly (readonly Part[])[]
  /** All string literals of the program. */
  readonly texts: readonly string[]
}

const textsIn = (node: AnyNode): string[] => {
  if (node.type === 'TemplateElement') return [node.value.cooked ?? '']
  return node.type === 'Literal' && typeof node.value === 'string' ? [node.value] : []
}

/** `a` or `a.b.c`. */
const nameOf = (node: AnyNode): string | undefined => {
  if (node.type === 'Identifier') return node.name
  if (node.type !== 'MemberExpression' || node.computed || node.optional) return undefined
  const [object, property] = [nameOf(node.object), nameOf(node.property)]
  return object === undefined || property === undefined ? undefined : `${object}.${property}`
}

const partsOf = (node: AnyNode | undefined): Part[] => {
  if (node?.type === 'BinaryExpression' && node.operator === '+')
    return [...partsOf(node.left), ...partsOf(node.right)]
  if (node?.type === 'TemplateLiteral')
    return [...node.quasis, ...node.expressions].sort((a, b) => a.start - b.start).flatMap(partsOf)
  if (node === undefined) return [{ kind: 'unknown' }]
  if (holeAt(node) !== undefined) return [{ kind: 'hole' }]
  const [text] = textsIn(node)
  if (text !== undefined) return [{ kind: 'text', text }]
  const name = nameOf(node)
  return [name === undefined ? { kind: 'unknown' } : { kind: 'name', name }]
}

const branchesOf = (node: AnyNode | undefined): (AnyNode | undefined)[] =>
  node?.type === 'ConditionalExpression'
    ? [...branchesOf(node.consequent), ...branchesOf(node.alternate)]
    : [node]

/** The argument of a call at a position; undefined if there is none or a spread argument may have moved it. */
export const argumentOf = (args: readonly AnyNode[], position: number): AnyNode | undefined =>
  args.slice(0, position + 1).some(({ type }) => type === 'SpreadElement') ? undefined : args[position]

/** What the calls of these functions get as their argument at `position`. */
export const joinedArgument = (code: string, names: ReadonlySet<string>, position: number): Joined => {
  const root = syntaxOf(code)
  const nodes = root === undefined ? [] : nodesIn(root)
  const ways = nodes.flatMap((node) =>
    node.type === 'CallExpression' && node.callee.type === 'Identifier' && names.has(node.callee.name)
      ? branchesOf(argumentOf(node.arguments, position)).map(partsOf)
      : [],
  )
  return { ways, texts: nodes.flatMap(textsIn) }
}
