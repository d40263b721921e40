import './graph.css'
import { useEffect, useMemo, useRef, useState, type KeyboardEvent, type PointerEvent } from 'react'
import type { Graph as WorkflowGraph, GraphNode } from '../../api/workflows.ts'
import { Button } from '../../ui/index.ts'
import { drawGraph, partsOf, type Box } from './layout.ts'
import { NodeFacts } from './node-facts.tsx'

/** A graph with more nodes, or a wider one, begins with closed modules. */
const ALL_OPEN = 60
const WIDE_PX = 1_000
const MAX_ZOOM = 2
const MIN_ZOOM = 0.1
const STEP = 1.25
/** A larger graph is not shrunk below what can be read: it is moved. */
const LEAST_FIT = 0.75
/** Height of the graph. */
const MOST_PX = 560
const MOST_OF_WINDOW = 0.64
const SIDE_PX = 20
const CHAR_PX = 6.6

const short = (text: string, width: number): string => {
  const most = Math.max(4, Math.floor(width / CHAR_PX))
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`
}

const subtitleOf = ({ kind, type, runner, does }: GraphNode, parts: number): string =>
  [
    type === 'step' || type === 'hook' ? kind : type,
    runner,
    parts > 0 ? `${parts} ${parts === 1 ? 'part' : 'parts'}` : (does[0] ?? ''),
  ]
    .filter((text) => text !== '')
    .join(' · ')

const marksOf = ({ condition, attempts, parallel }: GraphNode): string =>
  [condition === '' ? '' : '?', attempts > 1 ? `↻${attempts}` : '', parallel ? '∥' : ''].join(' ').trim()

const pathOf = (points: readonly { readonly x: number; readonly y: number }[]): string =>
  points.map(({ x, y }, index) => `${index === 0 ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}`).join(' ')

interface View {
  readonly x: number
  readonly y: number
  readonly zoom: number
}

/** The nearest box in the direction of an arrow key. */
const nearest = (boxes: readonly Box[], from: Box, key: string): Box | undefined => {
  const center = (box: Box) => ({
    x: box.x + box.width / 2,
    y: box.open ? box.y + 16 : box.y + box.height / 2,
  })
  const here = center(from)
  const along = key === 'ArrowLeft' || key === 'ArrowRight' ? 'x' : 'y'
  const across = along === 'x' ? 'y' : 'x'
  const sign = key === 'ArrowRight' || key === 'ArrowDown' ? 1 : -1
  let best: Box | undefined
  let least = Infinity
  for (const box of boxes) {
    const there = center(box)
    const ahead = (there[along] - here[along]) * sign
    if (box === from || ahead <= 1) continue
    const cost = ahead + 2 * Math.abs(there[across] - here[across])
    if (cost < least) [best, least] = [box, cost]
  }
  return best
}

const closedAtFirst = (graph: WorkflowGraph): ReadonlySet<string> => {
  const readable = graph.nodes.length <= ALL_OPEN && drawGraph(graph, () => true).width <= WIDE_PX
  return new Set(readable ? [] : graph.nodes.flatMap(({ id, parent }) => (parent === '' ? [] : [id])))
}

interface GraphProps {
  readonly graph: WorkflowGraph
  /** Shows a line of the source. */
  readonly onLine?: (line: number) => void
  /** The file whose lines can be shown. */
  readonly file?: string
}

/** The parts of a workflow as boxes. Arrow keys move between them, Enter opens what is inside, + and - zoom. */
export const Graph = ({ graph, onLine, file }: GraphProps) => {
  const parts = useMemo(() => partsOf(graph), [graph])
  const [closed, setClosed] = useState<ReadonlySet<string>>(() => closedAtFirst(graph))
  const drawing = useMemo(() => drawGraph(graph, ({ id }) => !closed.has(id)), [graph, closed])
  const [chosen, setChosen] = useState<string>()
  const [view, setView] = useState<View>()
  const holder = useRef<HTMLDivElement>(null)
  const drag = useRef<{ x: number; y: number; view: View } | undefined>(undefined)
  const [size, setSize] = useState({ width: 0, height: 0 })
  useEffect(() => {
    const element = holder.current
    if (!element) return
    const observer = new ResizeObserver(() =>
      setSize({ width: element.clientWidth, height: element.clientHeight }),
    )
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  const most = Math.min(MOST_PX, MOST_OF_WINDOW * window.innerHeight)
  const fitting: View = (() => {
    const across = (size.width - 2 * SIDE_PX) / Math.max(1, drawing.width)
    const down = (most - 2 * SIDE_PX) / Math.max(1, drawing.height)
    const zoom = Math.min(1, Math.max(LEAST_FIT, Math.min(across, down)))
    // What does not fit begins with the first part.
    const first = drawing.height * zoom + 2 * SIDE_PX > size.height + 1 ? (drawing.boxes[0]?.y ?? 0) : 0
    return { zoom, x: Math.max(SIDE_PX, (size.width - drawing.width * zoom) / 2), y: SIDE_PX - first * zoom }
  })()
  const now = view ?? fitting
  const zoomBy = (factor: number, at = { x: size.width / 2, y: size.height / 2 }) => {
    const zoom = Math.min(MAX_ZOOM, Math.max(MIN_ZOOM, now.zoom * factor))
    const real = zoom / now.zoom
    setView({ zoom, x: at.x - (at.x - now.x) * real, y: at.y - (at.y - now.y) * real })
  }
  const latestZoom = useRef(zoomBy)
  useEffect(() => {
    latestZoom.current = zoomBy
  })
  useEffect(() => {
    const element = holder.current
    if (!element) return
    // React listens to wheels passively. Without Ctrl the wheel scrolls the page.
    const wheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return
      event.preventDefault()
      const { left, top } = element.getBoundingClientRect()
      latestZoom.current(Math.exp(-event.deltaY / 300), { x: event.clientX - left, y: event.clientY - top })
    }
    element.addEventListener('wheel', wheel, { passive: false })
    return () => element.removeEventListener('wheel', wheel)
  }, [])
  const current = drawing.boxes.find(({ node }) => node.id === chosen)
  const focusable = current?.node.id ?? drawing.boxes[0]?.node.id
  const toggle = ({ node, parts: count }: Box) => {
    if (count > 0) setClosed((before) => before.symmetricDifference(new Set([node.id])))
  }
  const moveTo = (box: Box) => {
    setChosen(box.node.id)
    const at = { x: box.x * now.zoom + now.x, y: box.y * now.zoom + now.y }
    const inside = at.x >= 0 && at.y >= 0 && at.x + LEAST_PX < size.width && at.y + LEAST_PX / 4 < size.height
    if (!inside)
      setView({
        ...now,
        x: size.width / 2 - box.x * now.zoom - LEAST_PX / 2,
        y: size.height / 3 - box.y * now.zoom,
      })
    holder.current
      ?.querySelector<SVGGElement>(`[data-node="${CSS.escape(box.node.id)}"]`)
      ?.focus({ preventScroll: true })
  }
  const onKey = (event: KeyboardEvent, box: Box) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key.startsWith('Arrow')) {
      const next = nearest(drawing.boxes, box, event.key)
      if (next) moveTo(next)
    } else if (event.key === 'Enter') toggle(box)
    else if (event.key === ' ') setChosen(box.node.id)
    else if (event.key === '+') zoomBy(STEP)
    else if (event.key === '-') zoomBy(1 / STEP)
    else if (event.key === '0') setView(undefined)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const onDown = (event: PointerEvent) => {
    if (event.button !== 0) return
    drag.current = { x: event.clientX, y: event.clientY, view: now }
  }
  const onMove = (event: PointerEvent<HTMLDivElement>) => {
    const from = drag.current
    if (!from) return
    const by = { x: event.clientX - from.x, y: event.clientY - from.y }
    if (Math.hypot(by.x, by.y) < 4 && !event.currentTarget.hasPointerCapture(event.pointerId)) return
    event.currentTarget.setPointerCapture(event.pointerId)
    setView({ ...from.view, x: from.view.x + by.x, y: from.view.y + by.y })
  }
  if (graph.nodes.length === 0)
    return <p className="muted">The file has errors that hide its parts. Correct them to see the graph.</p>
  return (
    <section className="stack" aria-label="Graph of the workflow">
      <div className="line gap-4">
        <Button kind="quiet" aria-label="Zoom in" onClick={() => zoomBy(STEP)}>
          +
        </Button>
        <Button kind="quiet" aria-label="Zoom out" onClick={() => zoomBy(1 / STEP)}>
          −
        </Button>
        <Button kind="quiet" onClick={() => setView(undefined)}>
          Fit
        </Button>
        <Button kind="quiet" onClick={() => setClosed(new Set())} disabled={closed.size === 0}>
          Open all
        </Button>
        <span className="muted caption">
          Drag to move, Ctrl and wheel to zoom, arrow keys to walk, Enter to open or close
        </span>
      </div>
      {graph.truncated ? <p className="tone-warn">▲ The workflow has more parts than are drawn.</p> : null}
      <div
        ref={holder}
        className="panel graph-holder"
        style={{ height: Math.min(most, drawing.height * fitting.zoom + 2 * SIDE_PX) }}
        onPointerDown={onDown}
        onPointerMove={onMove}
        onPointerUp={() => (drag.current = undefined)}
        onPointerCancel={() => (drag.current = undefined)}
      >
        <svg role="group" aria-label="Parts of the workflow" width="100%" height="100%">
          <defs>
            <marker
              id="arrow"
              viewBox="0 0 8 8"
              refX="7"
              refY="4"
              markerWidth="7"
              markerHeight="7"
              orient="auto"
            >
              <path d="M0 0L8 4L0 8z" className="arrow" />
            </marker>
          </defs>
          <g transform={`translate(${now.x} ${now.y}) scale(${now.zoom})`}>
            {drawing.boxes.map((box) => {
              const { node, x, y, width, height, open, parts: count } = box
              const marks = marksOf(node)
              return (
                <g
                  key={node.id}
                  data-node={node.id}
                  role="button"
                  tabIndex={node.id === focusable ? 0 : -1}
                  aria-expanded={count > 0 ? open : undefined}
                  aria-pressed={node.id === chosen}
                  className={`node node-${node.type} ${open ? 'node-open' : ''} ${node.id === chosen ? 'node-chosen' : ''}`}
                  transform={`translate(${x} ${y})`}
                  onClick={() => setChosen(node.id)}
                  onDoubleClick={() => toggle(box)}
                  onFocus={() => setChosen((before) => before ?? node.id)}
                  onKeyDown={(event) => onKey(event, box)}
                >
                  <rect width={width} height={height} rx="4" />
                  <text x="10" y="19">
                    {short(node.name, width - 20 - (marks === '' ? 0 : 34))}
                  </text>
                  {marks === '' ? null : (
                    <text x={width - 8} y="19" textAnchor="end" className="node-kind">
                      {marks}
                    </text>
                  )}
                  {open ? null : (
                    <text x="10" y="36" className="node-kind">
                      {short(subtitleOf(node, count), width - 16)}
                    </text>
                  )}
                </g>
              )
            })}
            {drawing.lines.map(({ id, kind, label, points }) => (
              <g key={id} className={`edge edge-${kind}`} aria-hidden="true">
                <path d={pathOf(points)} markerEnd="url(#arrow)">
                  {label === '' ? null : <title>{label}</title>}
                </path>
              </g>
            ))}
          </g>
        </svg>
      </div>
      {current ? (
        <NodeFacts
          node={current.node}
          onLine={file === undefined || current.node.file === file ? onLine : undefined}
          parts={current.parts}
          open={current.open}
          onToggle={() => toggle(current)}
        />
      ) : (
        <p className="muted">Choose a part to see what it does.</p>
      )}
      <details>
        <summary>The same as a list</summary>
        <NodeList parts={parts} parent="" />
      </details>
    </section>
  )
}

const LEAST_PX = 184

const NodeList = ({
  parts,
  parent,
}: {
  parts: ReadonlyMap<string, readonly GraphNode[]>
  parent: string
}) => {
  const nodes = parts.get(parent) ?? []
  return nodes.length === 0 ? null : (
    <ol className="bullets node-list stack gap-6">
      {nodes.map((node) => (
        <li key={node.id}>
          <strong>{node.name}</strong>{' '}
          <span className="muted">
            {node.kind === '' ? node.type : node.kind}
            {node.depends_on.length === 0 ? '' : `, after ${node.depends_on.join(', ')}`}
            {node.condition === '' ? '' : `, if ${node.condition}`}
          </span>
          {node.does.map((text, index) => (
            <code key={index}>{text}</code>
          ))}
          <NodeList parts={parts} parent={node.id} />
        </li>
      ))}
    </ol>
  )
}
