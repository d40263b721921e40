import type { Hole, Node } from '../template/parse.ts'

/** Texts and holes in the order in which they are written, as if every branch were taken. */
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
