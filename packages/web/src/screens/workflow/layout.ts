import { Graph as Dagre, layout } from '@dagrejs/dagre'
import type { Graph, GraphNode } from '../../api/workflows.ts'

export interface Box {
  readonly node: GraphNode
  /** From the corner of the drawing. */
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  /** Parts that are drawn inside. */
  readonly open: boolean
  /** Number of its parts. */
  readonly parts: number
}

export interface Line {
  readonly id: string
  readonly kind: Graph['edges'][number]['kind']
  readonly label: string
  readonly points: readonly { readonly x: number; readonly y: number }[]
}

export interface Drawing {
  readonly boxes: readonly Box[]
  readonly lines: readonly Line[]
  readonly width: number
  readonly height: number
}

const LEAF = { width: 184, height: 46 }
const HEAD_PX = 34
const PAD_PX = 12

/** Nodes by the id of what contains them. */
export const partsOf = (graph: Graph): ReadonlyMap<string, readonly GraphNode[]> =>
  Map.groupBy(graph.nodes, ({ parent }) => parent)

const EMPTY: Drawing = { boxes: [], lines: [], width: 0, height: 0 }

/** Draws the parts of each open node inside it. Edges connect only parts of the same node, so each is a graph of its own. */
export const drawGraph = (graph: Graph, isOpen: (node: GraphNode) => boolean): Drawing => {
  const parts = partsOf(graph)
  const parentOf = new Map(graph.nodes.map(({ id, parent }) => [id, parent]))
  const edges = Map.groupBy(graph.edges, ({ from }) => parentOf.get(from) ?? '')
  const area = (parent: string): Drawing => {
    const nodes = parts.get(parent) ?? []
    if (nodes.length === 0) return EMPTY
    const inner = new Map(
      nodes.flatMap((node) =>
        (parts.get(node.id)?.length ?? 0) > 0 && isOpen(node) ? [[node.id, area(node.id)]] : [],
      ),
    )
    const dagre = new Dagre({ multigraph: true })
    // Modules beside each other, the steps of a module below each other.
    dagre.setGraph({ rankdir: inner.size > 0 ? 'LR' : 'TB', nodesep: 18, ranksep: 30, edgesep: 10 })
    for (const { id } of nodes) {
      const within = inner.get(id)
      dagre.setNode(
        id,
        within
          ? {
              width: Math.max(LEAF.width, within.width + 2 * PAD_PX),
              height: within.height + HEAD_PX + PAD_PX,
            }
          : { ...LEAF },
      )
    }
    const own = (edges.get(parent) ?? []).filter(({ from, to }) => dagre.hasNode(from) && dagre.hasNode(to))
    for (const [index, { from, to }] of own.entries()) dagre.setEdge(from, to, {}, String(index))
    layout(dagre)
    const boxes = nodes.flatMap((node): Box[] => {
      const { x = 0, y = 0, width, height } = dagre.node(node.id)
      const within = inner.get(node.id)
      const corner = { x: x - width / 2, y: y - height / 2 }
      const box = {
        node,
        ...corner,
        width,
        height,
        open: within !== undefined,
        parts: parts.get(node.id)?.length ?? 0,
      }
      if (!within) return [box]
      const shift = { x: corner.x + (width - within.width) / 2, y: corner.y + HEAD_PX }
      return [box, ...within.boxes.map((one) => ({ ...one, x: one.x + shift.x, y: one.y + shift.y }))]
    })
    const lines = own.map(({ from, to, kind, label }, index): Line => {
      const { points = [] } = dagre.edge(from, to, String(index))
      return { id: `${from}>${to}>${index}`, kind, label, points: [...points] }
    })
    const nested = nodes.flatMap((node) => {
      const within = inner.get(node.id)
      const { x = 0, y = 0, width, height } = dagre.node(node.id)
      if (!within) return []
      const shift = { x: x - width / 2 + (width - within.width) / 2, y: y - height / 2 + HEAD_PX }
      return within.lines.map((line) => ({
        ...line,
        points: line.points.map((point) => ({ x: point.x + shift.x, y: point.y + shift.y })),
      }))
    })
    const { width = 0, height = 0 } = dagre.graph()
    return { boxes, lines: [...lines, ...nested], width, height }
  }
  const [root, ...others] = parts.get('') ?? []
  return area(root?.type === 'workflow' && others.length === 0 ? root.id : '')
}
