import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useMemo, useRef, useState, type KeyboardEvent, type PointerEvent } from 'react'
import { stripQuery } from '../../api/jobs.ts'
import { runQuery } from '../../api/runs.ts'
import { useQuiet, colorOf, ErrorPanel, Link, Skeleton, plural, useTheme } from '../../ui/index.ts'
import { lettersOf, runAt, STATES, stateOf, type TargetState } from './states.ts'

/** Width of a cell with its gap, by the most cells that have it. */
const SIZES = [
  [150, 18],
  [600, 14],
  [2_500, 10],
  [12_000, 8],
  [50_000, 6],
  [Infinity, 4],
] as const
/** Of the frame, in job.css. */
const PADDING = 8
/** The pointer rests on a cell for so long before its run is read. */
const REST_MS = 120

const drawCell = (
  context: CanvasRenderingContext2D,
  shape: TargetState['shape'],
  x: number,
  y: number,
  size: number,
) => {
  const part = (share: number): number => Math.max(1, Math.round(size * share))
  switch (shape) {
    case 'full':
      return context.fillRect(x, y, size, size)
    case 'small': {
      const inset = Math.floor(size * 0.2)
      return context.fillRect(x + inset, y + inset, size - 2 * inset, size - 2 * inset)
    }
    case 'dot': {
      const edge = part(0.3)
      const inset = Math.floor((size - edge) / 2)
      return context.fillRect(x + inset, y + inset, edge, edge)
    }
    case 'bar':
      return context.fillRect(x, y + Math.floor(size * 0.4), size, part(0.25))
    case 'half':
      context.fillRect(x, y + Math.ceil(size / 2), size, Math.floor(size / 2))
      return context.fillRect(x, y, part(0.2), size)
    case 'frame': {
      const line = part(0.2)
      context.fillRect(x, y, size, line)
      context.fillRect(x, y + size - line, size, line)
      context.fillRect(x, y, line, size)
      return context.fillRect(x + size - line, y, line, size)
    }
    case 'triangle':
      context.beginPath()
      context.moveTo(x + size / 2, y)
      context.lineTo(x + size, y + size)
      context.lineTo(x, y + size)
      return context.fill()
  }
}

interface Grid {
  /** Width of a cell with its gap. */
  readonly step: number
  readonly columns: number
}

const draw = (canvas: HTMLCanvasElement, letters: string, { step, columns }: Grid): void => {
  const context = canvas.getContext('2d')
  if (!context) return
  const ratio = window.devicePixelRatio || 1
  const height = Math.ceil(letters.length / columns) * step
  canvas.width = columns * step * ratio
  canvas.height = height * ratio
  context.scale(ratio, ratio)
  const size = step <= 4 ? step - 0.5 : step - (step > 12 ? 3 : 2)
  for (const state of STATES) {
    context.fillStyle = colorOf(state.color)
    for (let at = letters.indexOf(state.letter); at >= 0; at = letters.indexOf(state.letter, at + 1))
      drawCell(context, state.shape, (at % columns) * step, Math.floor(at / columns) * step, size)
  }
}

/** The target below the pointer or the keyboard's cursor. Its name is read when the cursor rests. */
const useTarget = (id: number | undefined): string => {
  const wanted = useQuiet(id, REST_MS) === id
  const { data } = useQuery({
    ...runQuery(String(id)),
    enabled: wanted && id !== undefined,
    staleTime: 30_000,
  })
  if (id === undefined) return ''
  if (!data || !wanted) return `run ${id}`
  const why = data.error_message || data.waiting_reason || data.outcome_reasons[0] || ''
  return `${data.target}${why === '' ? '' : ` – ${why}`}`
}

/** All targets of a job, one cell each. */
export const Strip = ({ jobId, ended }: { jobId: string; ended: boolean }) => {
  const { data, error, refetch } = useQuery(stripQuery(jobId, ended))
  const navigate = useNavigate()
  const theme = useTheme()
  const frame = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const [width, setWidth] = useState(0)
  const [position, setPosition] = useState<number>()
  const letters = useMemo(() => (data ? lettersOf(data.states) + 'p'.repeat(data.without_run) : ''), [data])
  const step = SIZES.find(([most]) => letters.length <= most)?.[1] ?? 4
  const columns = Math.max(1, Math.floor(width / step))
  const known = data !== undefined
  useEffect(() => {
    const element = frame.current
    if (!element) return
    const watcher = new ResizeObserver(() => setWidth(element.clientWidth - 2 * PADDING))
    watcher.observe(element)
    return () => watcher.disconnect()
  }, [known])
  useEffect(() => {
    if (canvas.current && width > 0) draw(canvas.current, letters, { step, columns })
  }, [letters, step, columns, width, theme])
  const id = data && position !== undefined ? runAt(data.ids, position) : undefined
  const target = useTarget(id)
  if (error && !data) return <ErrorPanel error={error} onRetry={() => void refetch()} />
  if (!data) return <Skeleton lines={5} />

  const positionAt = ({ nativeEvent: { offsetX, offsetY } }: PointerEvent): number | undefined => {
    const found = Math.floor(offsetY / step) * columns + Math.floor(offsetX / step)
    return found < letters.length ? found : undefined
  }
  const open = () => {
    if (id !== undefined) void navigate({ href: `/runs/${id}` })
  }
  const move = (to: number) => {
    const next = Math.min(letters.length - 1, Math.max(0, to))
    setPosition(next)
    const row = Math.floor(next / columns) * step
    const element = frame.current
    if (element && (row < element.scrollTop || row + step > element.scrollTop + element.clientHeight))
      element.scrollTo({ top: row - element.clientHeight / 2 })
  }
  const onKey = (event: KeyboardEvent) => {
    const at = position ?? -1
    const moves: Readonly<Record<string, number>> = {
      ArrowRight: at + 1,
      ArrowLeft: at - 1,
      ArrowDown: at + columns,
      ArrowUp: at - columns,
      Home: 0,
      End: letters.length - 1,
    }
    const to = moves[event.key]
    if (to !== undefined) move(to)
    else if (event.key === 'f') {
      const next = letters.indexOf('f', at + 1)
      if (next >= 0) move(next)
    } else if (event.key === 'Enter') open()
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const state = position === undefined ? undefined : stateOf(letters[position])
  return (
    <section className="stack" aria-label="All targets by state">
      <Legend jobId={jobId} letters={letters} />
      <div ref={frame} className="panel strip-frame">
        {width === 0 ? null : (
          <div className="strip-cells" style={{ height: Math.ceil(letters.length / columns) * step }}>
            {/* One stop of the keyboard for thousands of cells; arrows move within. */}
            <canvas
              ref={canvas}
              // oxlint-disable-next-line jsx-a11y/no-interactive-element-to-noninteractive-role
              role="application"
              aria-label={`${plural(letters.length, 'target')}. Arrows move, f goes to the next failed one, Enter opens the run. The list of runs has the same as a table.`}
              aria-describedby="strip-target"
              // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
              tabIndex={0}
              style={{ width: columns * step, height: Math.ceil(letters.length / columns) * step }}
              onPointerMove={(event) => setPosition(positionAt(event))}
              onPointerLeave={() => setPosition(undefined)}
              onClick={open}
              onKeyDown={onKey}
            />
            {position === undefined ? null : (
              <span
                className="strip-cursor"
                style={{
                  width: step,
                  height: step,
                  transform: `translate(${(position % columns) * step - 1}px, ${Math.floor(position / columns) * step - 1}px)`,
                }}
              />
            )}
          </div>
        )}
      </div>
      <p id="strip-target" className="strip-target" aria-live="polite">
        {position === undefined || state === undefined ? (
          <span className="muted">Point at a cell, or use the arrows: its target appears here.</span>
        ) : (
          <>
            <span className="number">{(position + 1).toLocaleString()}</span>{' '}
            <strong className={`tone-${state.color.slice(2)}`}>
              {id === undefined ? 'waiting' : state.name}
            </strong>{' '}
            {id === undefined ? 'This target has no run yet.' : target}
          </>
        )}
      </p>
      {data.complete ? null : (
        <p className="muted">The first {letters.length.toLocaleString()} targets are shown.</p>
      )}
    </section>
  )
}

const Legend = ({ jobId, letters }: { jobId: string; letters: string }) => {
  const counts = useMemo(() => {
    const found = new Map<string, number>()
    for (const letter of letters) found.set(letter, (found.get(letter) ?? 0) + 1)
    return found
  }, [letters])
  return (
    <ul className="list line strip-legend" aria-label="Targets by state">
      {STATES.filter(({ letter }) => counts.has(letter)).map((state) => (
        <li key={state.letter}>
          <Link className="inline" href={`/runs?job_id=${jobId}&${state.filter}`}>
            <LegendCell state={state} />
            {state.name} <span className="number">{counts.get(state.letter)?.toLocaleString()}</span>
          </Link>
        </li>
      ))}
    </ul>
  )
}

const LegendCell = ({ state }: { state: TargetState }) => {
  const theme = useTheme()
  const canvas = useRef<HTMLCanvasElement>(null)
  useEffect(() => {
    if (canvas.current) draw(canvas.current, state.letter, { step: 12, columns: 1 })
  }, [state, theme])
  return <canvas ref={canvas} aria-hidden="true" className="strip-sample" />
}
