import { useSyncExternalStore } from 'react'

const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
] as const

const spanOf = (seconds: number): string => {
  for (const [index, [unit, size]] of UNITS.entries()) {
    if (seconds < size) continue
    const [smaller, part] = UNITS[index + 1] ?? ['s', 1]
    const rest = Math.floor((seconds % size) / part)
    return `${Math.floor(seconds / size)}${unit}${rest > 0 ? ` ${rest}${smaller}` : ''}`
  }
  if (seconds < 1) return `${Math.round(seconds * 1000)}ms`
  return seconds < 10 ? `${seconds.toFixed(1)}s` : `${Math.floor(seconds)}s`
}

const LOOK_MS = 1_000
let now = Date.now()
const watchers = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined

const watchNothing = () => () => undefined

/** One clock for all times on the screen. */
const watch = (watcher: () => void) => {
  watchers.add(watcher)
  timer ??= setInterval(() => {
    if (document.hidden) return
    now = Date.now()
    for (const each of watchers) each()
  }, LOOK_MS)
  return () => {
    watchers.delete(watcher)
    if (watchers.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/** The time of the shared clock, in steps of a second. Without `runs` it stays. */
export const useNow = (runs: boolean): number =>
  useSyncExternalStore(runs ? watch : watchNothing, () => (runs ? now : 0))

const agoText = (at: number): string => {
  const seconds = Math.round((now - at) / 1000)
  const size = Math.abs(seconds)
  if (size < 5) return 'now'
  const [unit, length] = UNITS.find(([, each]) => size >= each) ?? ['s', 1]
  const span = `${Math.floor(size / length)}${unit}`
  return seconds < 0 ? `in ${span}` : `${span} ago`
}

/** A time relative to now; the absolute one appears with the pointer, and is what screen readers read. */
export const Time = ({ at }: { at: string | null | undefined }) => {
  const time = at ? Date.parse(at) : Number.NaN
  const text = useSyncExternalStore(watch, () => (Number.isNaN(time) ? '–' : agoText(time)))
  if (Number.isNaN(time)) return <span className="muted">–</span>
  const absolute = new Date(time).toLocaleString()
  return (
    <time dateTime={at ?? ''} title={absolute} className="number">
      {text}
    </time>
  )
}

interface DurationProps {
  readonly ms?: number
  /** ISO times, instead of `ms`. Without an end the time runs. */
  readonly from?: string | null
  readonly to?: string | null
}

export const Duration = ({ ms, from, to }: DurationProps) => {
  const begin = from ? Date.parse(from) : undefined
  const text = useSyncExternalStore(watch, () => {
    if (ms !== undefined) return spanOf(ms / 1000)
    return begin === undefined ? '–' : spanOf(Math.max(0, (to ? Date.parse(to) : now) - begin) / 1000)
  })
  return <span className="number">{text}</span>
}

const SIZES = ['B', 'KiB', 'MiB', 'GiB', 'TiB']

export const Bytes = ({ value }: { value: number }) => {
  const power = Math.min(SIZES.length - 1, value < 1 ? 0 : Math.floor(Math.log2(value) / 10))
  return (
    <span className="number">
      {(value / 1024 ** power).toFixed(power === 0 ? 0 : 1)} {SIZES[power]}
    </span>
  )
}
