import type { Hole, Node } from './parse.ts'

/** Texts and holes in source order, as if every branch were taken. */
export const partsOf = (nodes: readonly Node[]): (string | Hole)[] =>
  nodes.flatMap((node) => {
    switch (node.kind) {
      case 'text':
        return [node.text]
      case 'hole':
        return [node]
      case 'if':
        return node.branches.flatMap(({ body }) => partsOf(body))
      case 'for':
        return [...partsOf(node.body), ...partsOf(node.empty)]
      case 'with':
        return partsOf(node.body)
      case 'now':
        return [node.layout]
      case 'set':
        return []
    }
  })
