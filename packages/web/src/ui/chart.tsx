import 'uplot/dist/uPlot.min.css'
import { useEffect, useRef } from 'react'
import UPlot from 'uplot'
import { Time } from './values.tsx'

export interface Series {
  readonly label: string
  readonly values: readonly (number | null)[]
  /** A custom property of styles/tokens.css, for example `--chart-1`. */
  readonly color: string
}

interface ChartProps {
  readonly title: string
  /** Seconds since 1970, ascending. */
  readonly times: readonly number[]
  readonly series: readonly Series[]
  readonly height?: number
}

const token = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim()

const draw = (element: HTMLElement, { times, series, height = 160 }: ChartProps): UPlot => {
  const axis = {
    stroke: token('--muted'),
    grid: { stroke: token('--line'), width: 1 },
    ticks: { show: false },
  }
  return new UPlot(
    {
      width: element.clientWidth,
      height,
      axes: [axis, { ...axis, size: 48 }],
      legend: { show: false },
      series: [
        {},
        ...series.map(({ label, color }) => ({
          label,
          stroke: token(color),
          width: 1.5,
          points: { show: false },
        })),
      ],
    },
    [[...times], ...series.map(({ values }) => [...values])],
    element,
  )
}

/** Lines over time. The same numbers are in a table below it, which is closed at first. */
export const Chart = (props: ChartProps) => {
  const { title, times, series, height } = props
  const holder = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = holder.current
    if (!element) return
    let plot = draw(element, { title, times, series, height })
    const again = () => {
      plot.destroy()
      plot = draw(element, { title, times, series, height })
    }
    const resized = new ResizeObserver(() =>
      plot.setSize({ width: element.clientWidth, height: plot.height }),
    )
    resized.observe(element)
    const themed = new MutationObserver(again)
    themed.observe(document.documentElement, { attributeFilter: ['data-theme'] })
    return () => {
      resized.disconnect()
      themed.disconnect()
      plot.destroy()
    }
  }, [title, times, series, height])
  return (
    <figure className="chart">
      <figcaption>{title}</figcaption>
      <div ref={holder} aria-hidden="true" />
      <details>
        <summary>Numbers</summary>
        <table className="plain-table">
          <thead>
            <tr>
              <th scope="col">Time</th>
              {series.map(({ label }) => (
                <th scope="col" key={label}>
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {times.map((time, index) => (
              <tr key={time}>
                <td>
                  <Time at={new Date(time * 1000).toISOString()} />
                </td>
                {series.map(({ label, values }) => (
                  <td key={label}>{values[index]}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  )
}
