import { valueOr } from '@scanfarm/contracts'
import { parse, type AnyNode, type Program } from 'acorn'

/** The syntax tree of a prepared program; undefined if the program is not valid JavaScript. */
export const syntaxOf = (code: string): Program | undefined =>
  valueOr(() => parse(code, { ecmaVersion: 'latest' }), undefined)

const isNode = (value: unknown): value is AnyNode =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'

/** A node and all nodes below it, in the order of the source. */
export const nodesIn = (root: AnyNode): AnyNode[] => {
  const nodes: AnyNode[] = []
  const open = [root]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    nodes.push(node)
    const from = open.length
    for (const value of Object.values(node) as unknown[])
      if (Array.isArray(value)) open.push(...value.filter(isNode))
      else if (isNode(value)) open.push(value)
    // The last one is taken first.
    if (open.length > from + 1) open.push(...open.splice(from).reverse())
  }
  return nodes
}

/** `$hole[0]`, `$text[0]` or `$shell[0]`: a value that a `{{…}}` of the source stands for. */
export const holeAt = (node: AnyNode): { readonly kind: string; readonly index: number } | undefined => {
  if (node.type !== 'MemberExpression' || !node.computed) return undefined
  const { object, property } = node
  return object.type === 'Identifier' &&
    /^\$(?:hole|text|shell)$/.test(object.name) &&
    property.type === 'Literal' &&
    typeof property.value === 'number'
    ? { kind: object.name, index: property.value }
    : undefined
}
