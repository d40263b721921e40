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

interface Point {
  readonly x: number
  readonly y: number
}

export interface Line {
  readonly id: string
  readonly kind: Graph['edges'][number]['kind']
  readonly label: string
  readonly points: readonly Point[]
}

interface Drawing {
  readonly boxes: readonly Box[]
  readonly lines: readonly Line[]
  readonly width: number
  readonly height: number
}

interface Size {
  readonly width: number
  readonly height: number
}

interface Placed {
  /** The corners of the nodes, in their order. */
  readonly corners: readonly Point[]
  /** The bends of the edges, in their order. */
  readonly bends: readonly (readonly Point[])[]
  readonly size: Size
}

type Edge = Graph['edges'][number]

const LEAF = { width: 184, height: 46 }
const HEAD_PX = 34
const PAD_PX = 12
const GAP_PX = 30

/** Nodes by the id of what contains them. */
export const partsOf = (graph: Graph): ReadonlyMap<string, readonly GraphNode[]> =>
  Map.groupBy(graph.nodes, ({ parent }) => parent)

/** A row or column of nodes, one after the other. */
const placeChain = (sizes: readonly Size[], across: boolean): Placed => {
  const width = Math.max(...sizes.map((size) => size.width))
  const height = Math.max(...sizes.map((size) => size.height))
  const corners: Point[] = []
  const bends: Point[][] = []
  let at = 0
  for (const [index, size] of sizes.entries()) {
    const middle = across ? height / 2 : width / 2
    corners.push(across ? { x: at, y: middle - size.height / 2 } : { x: middle - size.width / 2, y: at })
    at += across ? size.width : size.height
    if (index === sizes.length - 1) break
    const points = [at, at + GAP_PX].map((end) => (across ? { x: end, y: middle } : { x: middle, y: end }))
    bends.push(points)
    at += GAP_PX
  }
  return { corners, bends, size: across ? { width: at, height } : { width, height: at } }
}

const placeLayers = (
  nodes: readonly GraphNode[],
  sizes: readonly Size[],
  edges: readonly Edge[],
  across: boolean,
): Placed => {
  const dagre = new Dagre({ multigraph: true })
  dagre.setGraph({ rankdir: across ? 'LR' : 'TB', nodesep: 18, ranksep: GAP_PX, edgesep: 10 })
  for (const [index, { id }] of nodes.entries()) dagre.setNode(id, { ...sizes[index] })
  for (const [index, { from, to }] of edges.entries()) dagre.setEdge(from, to, {}, String(index))
  layout(dagre)
  const { width = 0, height = 0 } = dagre.graph() as Partial<Size>
  return {
    corners: nodes.map(({ id }) => {
      const { x = 0, y = 0, width: wide = 0, height: high = 0 } = dagre.node(id) as Partial<Point & Size>
      return { x: x - wide / 2, y: y - high / 2 }
    }),
    bends: edges.map(
      ({ from, to }, index) => (dagre.edge(from, to, String(index)) as { points?: Point[] }).points ?? [],
    ),
    size: { width, height },
  }
}

const isChain = (nodes: readonly GraphNode[], edges: readonly Edge[]): boolean =>
  edges.length === nodes.length - 1 &&
  edges.every(({ from, to }, index) => from === nodes[index]?.id && to === nodes[index + 1]?.id)

const moved = ({ x, y }: Point, by: Point): Point => ({ x: x + by.x, y: y + by.y })

/** Draws the parts of each open node inside it. Edges connect only parts of the same node, so each is a graph of its own. */
export const drawGraph = (graph: Graph, isOpen: (node: GraphNode) => boolean): Drawing => {
  const parts = partsOf(graph)
  const parentOf = new Map(graph.nodes.map(({ id, parent }) => [id, parent]))
  const edges = Map.groupBy(
    graph.edges.filter(({ from, to }) => parentOf.get(from) === parentOf.get(to)),
    ({ from }) => parentOf.get(from) ?? '',
  )
  const countOf = ({ id }: GraphNode): number => parts.get(id)?.length ?? 0
  const area = (parent: string): Drawing => {
    const nodes = parts.get(parent) ?? []
    const own = edges.get(parent) ?? []
    const inner = nodes.map((node) => (countOf(node) > 0 && isOpen(node) ? area(node.id) : undefined))
    const sizes = inner.map((within) =>
      within
        ? {
            width: Math.max(LEAF.width, within.width + 2 * PAD_PX),
            height: within.height + HEAD_PX + PAD_PX,
          }
        : LEAF,
    )
    // Modules are beside each other, the steps of a module below each other.
    const across = inner.some((within) => within !== undefined)
    const { corners, bends, size } = isChain(nodes, own)
      ? placeChain(sizes, across)
      : placeLayers(nodes, sizes, own, across)
    const boxes: Box[] = []
    const lines: Line[] = own.map(({ from, to, kind, label }, index) => ({
      id: `${from}>${to}>${index}`,
      kind,
      label,
      points: bends[index] ?? [],
    }))
    for (const [index, node] of nodes.entries()) {
      const [corner = { x: 0, y: 0 }, outer = LEAF, within] = [corners[index], sizes[index], inner[index]]
      boxes.push({ node, ...corner, ...outer, open: within !== undefined, parts: countOf(node) })
      if (!within) continue
      const by = { x: corner.x + (outer.width - within.width) / 2, y: corner.y + HEAD_PX }
      for (const box of within.boxes) boxes.push({ ...box, ...moved(box, by) })
      for (const line of within.lines)
        lines.push({ ...line, points: line.points.map((point) => moved(point, by)) })
    }
    return { boxes, lines, ...size }
  }
  const [root, ...others] = parts.get('') ?? []
  return area(root?.type === 'workflow' && others.length === 0 ? root.id : '')
}
