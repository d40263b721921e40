import 'uplot/dist/uPlot.min.css'
import './chart.css'
import { useEffect, useRef, useState } from 'react'
import UPlot from 'uplot'
import { colorOf, useTheme } from './color.ts'
import { PlainTable } from './values/plain-table.tsx'

export interface Series {
  readonly label: string
  readonly values: readonly (number | null)[]
  /** A custom property of styles/tokens.css, for example `--chart-1`. */
  readonly color: string
  /** What the legend shows while the pointer is elsewhere: the sum (default), or the last known value. */
  readonly figure?: 'sum' | 'last'
}

interface ChartProps {
  readonly title: string
  /** Seconds since 1970, ascending. */
  readonly times: readonly number[]
  readonly series: readonly Series[]
}

const HEIGHT_PX = 160
const DAY_SECONDS = 86_400
/** Lines differ by their dashes, too, for those who do not see their colours. */
const DASHES: readonly number[][] = [[], [6, 3], [2, 3], [10, 3, 2, 3]]
/** Tick distances: no fractions of a run. */
const WHOLE = [1, 2, 5].flatMap((digit) => Array.from({ length: 10 }, (_, power) => digit * 10 ** power))

/** Labels of an axis: as much of each time as tells it from its neighbours. */
const timesOf = (splits: readonly number[]): string[] => {
  const [first = 0, second = first + DAY_SECONDS] = splits
  const distance = second - first
  return splits.map((time) => {
    const date = new Date(time * 1000)
    return distance >= DAY_SECONDS / 2
      ? date.toLocaleDateString(undefined, { day: 'numeric', month: 'short' })
      : date.toLocaleTimeString(undefined, {
          timeStyle: distance < 60 ? 'medium' : 'short',
          hourCycle: 'h23',
        })
  })
}

const draw = (
  element: HTMLElement,
  { times, series }: ChartProps,
  onPoint: (index: number | undefined) => void,
): UPlot => {
  const axis = {
    stroke: colorOf('--muted'),
    font: `11px ${getComputedStyle(element).fontFamily}`,
    grid: { stroke: colorOf('--line'), width: 1 },
    ticks: { show: false },
  }
  return new UPlot(
    {
      width: element.clientWidth,
      height: HEIGHT_PX,
      // Half of the last time is right of the lines.
      padding: [8, 24, 0, 0],
      scales: { y: { range: (_, __, max) => [0, Math.max(1, max * 1.1)] } },
      axes: [
        { ...axis, space: 64, size: 28, values: (_, splits) => timesOf(splits) },
        {
          ...axis,
          size: 44,
          space: 28,
          incrs: WHOLE.toSorted((a, b) => a - b),
          values: (_, splits) =>
            splits.map((value) => value.toLocaleString(undefined, { notation: 'compact' })),
        },
      ],
      legend: { show: false },
      cursor: { y: false, drag: { setScale: false, x: false, y: false } },
      hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? undefined)] },
      series: [
        {},
        ...series.map(({ label, color }, index) => ({
          label,
          stroke: colorOf(color),
          width: 1.75,
          dash: DASHES[index % DASHES.length],
          points: { show: false },
        })),
      ],
    },
    [[...times], ...series.map(({ values }) => [...values])],
    element,
  )
}

const figureOf = ({ values, figure = 'sum' }: Series): number =>
  figure === 'sum'
    ? values.reduce<number>((sum, value) => sum + (value ?? 0), 0)
    : (values.findLast((value) => value !== null) ?? 0)

const Legend = ({ times, series, point }: Omit<ChartProps, 'title'> & { point: number | undefined }) => {
  const time = point === undefined ? undefined : times[point]
  return (
    <p className="line chart-legend small">
      {series.map((each, index) => (
        <span key={each.label}>
          <svg width="20" height="8" aria-hidden="true" style={{ color: `var(${each.color})` }}>
            <line
              x2="20"
              y1="4"
              y2="4"
              stroke="currentColor"
              strokeWidth="2"
              strokeDasharray={DASHES[index % DASHES.length]?.join(' ')}
            />
          </svg>
          {each.label}{' '}
          <strong className="number">
            {(time === undefined ? figureOf(each) : (each.values[point ?? 0] ?? '–')).toLocaleString()}
          </strong>
        </span>
      ))}
      <span className="muted number">{time === undefined ? '' : new Date(time * 1000).toLocaleString()}</span>
    </p>
  )
}

/** Lines over time. The same numbers are in a table below it, which is closed at first. */
export const Chart = ({ title, times, series }: ChartProps) => {
  const holder = useRef<HTMLDivElement>(null)
  const [point, setPoint] = useState<number>()
  const [open, setOpen] = useState(false)
  const theme = useTheme()
  useEffect(() => {
    const element = holder.current
    if (!element) return
    const plot = draw(element, { title, times, series }, setPoint)
    const resized = new ResizeObserver(() =>
      plot.setSize({ width: element.clientWidth, height: plot.height }),
    )
    resized.observe(element)
    return () => {
      resized.disconnect()
      plot.destroy()
    }
  }, [title, times, series, theme])
  return (
    <figure className="chart">
      <figcaption>{title}</figcaption>
      <Legend times={times} series={series} point={point} />
      <div ref={holder} aria-hidden="true" style={{ minHeight: HEIGHT_PX }} />
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>Numbers</summary>
        {open ? (
          // A scrollable region must be reachable by keyboard.
          // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
          <div className="chart-table" tabIndex={0} role="region" aria-label={`${title}: numbers`}>
            <PlainTable
              head={['Time', ...series.map(({ label }) => label)]}
              rows={times.map((time, index) => [
                <time key="time" dateTime={new Date(time * 1000).toISOString()} className="number">
                  {new Date(time * 1000).toLocaleString()}
                </time>,
                ...series.map(({ label, values }) => (
                  <span key={label} className="number">
                    {values[index] ?? '–'}
                  </span>
                )),
              ])}
            />
          </div>
        ) : null}
      </details>
    </figure>
  )
}
