import { parse, type AnyNode, type Program } from 'acorn'

/** The syntax tree of a prepared program; undefined if the program is not valid JavaScript. */
export const syntaxOf = (code: string): Program | undefined => {
  try {
    return parse(code, { ecmaVersion: 'latest' })
  } catch {
    return undefined
  }
}

const isNode = (value: unknown): value is AnyNode =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'

/** A node and all nodes below it, in the order of the source. */
export const nodesIn = function* (root: AnyNode): Generator<AnyNode> {
  const open = [root]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    yield node
    open.push(...Object.values(node).flat().filter(isNode).reverse())
  }
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
