import './log.css'
import { useLocation, useNavigate } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef, useState, type MouseEvent } from 'react'
import { Bytes, Button, copy, ErrorPanel, toast, useShortcut } from '../../../ui/index.ts'
import { useWatched } from '../../../watched.ts'
import { plainOf } from './ansi.ts'
import { LogLine } from './log-line.tsx'
import { LogStore, type LogSource, type LogState } from './log-store.ts'
import { useSearch } from './use-search.ts'

const ROW_PX = 19
/** Lines that one scroll bar covers: browsers limit the height of an element. The rest is reached by moving this window. */
const WINDOW = 100_000
const HALF = WINDOW / 2
/** A link to a later line than this loads the log from so many lines before it. */
const FAR = 20_000
const BEFORE = 1_000
/** Most bytes that are copied at once. */
const COPY_BYTES = 5 * 1024 * 1024

const RANGE = /^L(\d{1,9})(?:-L?(\d{1,9}))?$/

/** Lines of the address: `#L120`, `#L120-L140`; from 0, both included. */
const rangeOf = (hash: string): readonly [number, number] | undefined => {
  const [, first, last] = RANGE.exec(hash) ?? []
  if (first === undefined) return undefined
  const ends = [Number(first) - 1, Number(last ?? first) - 1]
  return [Math.min(...ends), Math.max(...ends)]
}

const useLog = ({ run, step, attempt, grows, from = 0 }: LogSource) => {
  const [store, setStore] = useState<LogStore>()
  const key = `${run} ${step ?? ''}`
  // A log that stops growing has been followed to its end: it is not read again.
  const first = useRef({ attempt, grows })
  useEffect(() => {
    first.current = { attempt, grows }
  })
  useEffect(() => {
    const stop = new AbortController()
    const [uuid = '', id = ''] = key.split(' ')
    const made = new LogStore({ run: uuid, ...(id === '' ? {} : { step: id }), ...first.current, from })
    setStore(made)
    void made.run(stop.signal)
    return () => stop.abort()
  }, [key, from])
  return store
}

const PHASES: Readonly<Record<LogState['phase'], string>> = {
  loading: '◐ loading',
  live: '● live',
  reconnecting: '▲ reconnecting',
  ended: 'complete',
  failed: '■ failed',
}

/** What stands in the place of lines while there are none. */
const NO_LINES: Readonly<Record<LogState['phase'], string>> = {
  loading: 'Loading…',
  live: 'No output yet.',
  reconnecting: 'No output yet.',
  ended: 'There is no output.',
  failed: 'The output could not be read.',
}

interface LogViewProps extends LogSource {
  readonly label: string
  /** File name of the download. */
  readonly file: string
}

/** The log of a run or a step: live, searchable, with links to lines. */
export const LogView = (props: LogViewProps) => {
  const [from, setFrom] = useState(() => {
    const [line = 0] = rangeOf(window.location.hash.slice(1)) ?? []
    return line > FAR ? line - BEFORE : 0
  })
  const store = useLog({ ...props, from })
  if (store === undefined) return <section className="panel log" aria-label={props.label} aria-busy="true" />
  return <Viewer {...props} store={store} loadAll={() => setFrom(0)} />
}

interface ViewerProps extends LogViewProps {
  readonly store: LogStore
  /** Loads the lines that were passed over. */
  readonly loadAll: () => void
}

const Viewer = ({ run, step, label, file, store, loadAll }: ViewerProps) => {
  const state = useWatched(store.state)
  const { first, lines, phase } = state
  const [query, setQuery] = useState('')
  const [wrap, setWrap] = useState(() => localStorage.getItem('log wrap') !== 'no')
  const [follows, setFollows] = useState(() => rangeOf(window.location.hash.slice(1)) === undefined)
  const [wantedStart, setStart] = useState(0)
  const [hit, setHit] = useState(-1)
  const input = useRef<HTMLInputElement>(null)
  const scroller = useRef<HTMLDivElement>(null)
  const lastTop = useRef(0)
  const hash = useLocation({ select: (location) => location.hash })
  const navigate = useNavigate()
  const chosen = rangeOf(hash)
  const { hits, seen, more } = useSearch(store, first, lines, query)

  const start = Math.max(wantedStart, first)
  const count = Math.min(WINDOW, Math.max(0, lines - start))
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 20,
  })

  const show = (line: number, align: 'center' | 'end' = 'center') => {
    const inside = line >= start && line < start + WINDOW
    const next = inside
      ? start
      : Math.max(first, Math.floor(line / HALF) * HALF - (align === 'end' ? HALF : 0))
    if (!inside) setStart(next)
    requestAnimationFrame(() => virtual.scrollToIndex(line - next, { align }))
  }

  const target = chosen?.[0]
  const arrived = useRef<number>(undefined)
  useEffect(() => {
    arrived.current = undefined
  }, [store])
  useEffect(() => {
    if (target === undefined || target >= lines || arrived.current === target) return
    if (target < first) return loadAll()
    arrived.current = target
    show(target)
  })
  useEffect(() => {
    if (follows && phase !== 'ended' && lines > 0) show(lines - 1, 'end')
    // oxlint-disable-next-line react/exhaustive-deps -- when lines arrive
  }, [lines, follows, phase])

  const onScroll = () => {
    const element = scroller.current
    if (!element) return
    const { scrollTop, scrollHeight, clientHeight } = element
    const atEnd = scrollHeight - scrollTop - clientHeight < 2 * ROW_PX
    if (atEnd && start + count < lines) {
      const top = virtual.range?.startIndex ?? 0
      setStart(start + HALF)
      requestAnimationFrame(() => virtual.scrollToIndex(top - HALF, { align: 'start' }))
    } else if (scrollTop === 0 && start > first && lastTop.current > 0) {
      const next = Math.max(first, start - HALF)
      setStart(next)
      requestAnimationFrame(() => virtual.scrollToIndex(start - next, { align: 'start' }))
    } else if (atEnd) setFollows(true)
    else if (scrollTop < lastTop.current - 2) setFollows(false)
    lastTop.current = scrollTop
  }

  const goToHit = (by: number) => {
    if (hits.length === 0) return
    const next = (hit + by + hits.length) % hits.length
    setHit(next)
    setFollows(false)
    show(hits[next] ?? 0)
  }
  const search = (text: string) => {
    setQuery(text)
    setHit(-1)
  }
  const choose = (event: MouseEvent, line: number) => {
    event.preventDefault()
    setFollows(false)
    const from = event.shiftKey && chosen ? chosen[0] : line
    arrived.current = Math.min(from, line)
    const [first, last] = [Math.min(from, line) + 1, Math.max(from, line) + 1]
    void navigate({
      to: '.',
      search: ((before: object) => before) as never,
      hash: first === last ? `L${first}` : `L${first}-L${last}`,
      replace: true,
      hashScrollIntoView: false,
    })
  }
  const copyLines = () => {
    const [from, to] = chosen ?? [first, lines - 1]
    const text = store
      .text(Math.max(from, first), Math.min(to + 1, lines))
      .split('\n')
      .map(plainOf)
      .join('\n')
    void copy(text).then((copied) => (copied ? toast('Copied.') : undefined))
  }
  useShortcut('f', 'Search the log', () => input.current?.focus())
  useShortcut('n', 'Next hit in the log', () => goToHit(1))
  useShortcut('N', 'Previous hit in the log', () => goToHit(-1))

  const path = step === undefined ? `/api/runs/${run}/log` : `/api/runs/${run}/steps/${step}/log`
  const found =
    query === ''
      ? ''
      : seen < lines && !more
        ? `searching ${Math.floor((Math.max(0, seen - first) / (lines - first)) * 100)}%`
        : `${hit < 0 ? '' : `${(hit + 1).toLocaleString()} of `}${hits.length.toLocaleString()}${more ? '+' : ''} ${hits.length === 1 ? 'line' : 'lines'}`
  return (
    <section className="panel log" aria-label={label} aria-busy={phase === 'loading'}>
      <div className="line log-bar">
        <input
          ref={input}
          className="input log-search"
          type="search"
          aria-label="Search the log"
          placeholder="Search ( f )"
          value={query}
          onChange={(event) => search(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter') goToHit(event.shiftKey ? -1 : 1)
            if (event.key === 'Escape') search('')
          }}
        />
        <Button
          kind="quiet"
          aria-label="Previous hit"
          disabled={hits.length === 0}
          onClick={() => goToHit(-1)}
        >
          ↑
        </Button>
        <Button kind="quiet" aria-label="Next hit" disabled={hits.length === 0} onClick={() => goToHit(1)}>
          ↓
        </Button>
        <span className="log-found small muted number" role="status">
          {found}
        </span>
        <span className="line log-tools push">
          {phase === 'ended' || phase === 'failed' ? null : (
            <Button
              kind="quiet"
              aria-pressed={follows}
              onClick={() => {
                setFollows(!follows)
                if (!follows && lines > 0) show(lines - 1, 'end')
              }}
            >
              {follows ? 'Pause' : 'Follow'}
            </Button>
          )}
          <Button
            kind="quiet"
            aria-pressed={wrap}
            onClick={() => {
              localStorage.setItem('log wrap', wrap ? 'no' : 'yes')
              setWrap(!wrap)
            }}
          >
            Wrap
          </Button>
          <Button
            kind="quiet"
            disabled={lines === first || (!chosen && state.loaded > COPY_BYTES)}
            onClick={copyLines}
          >
            {chosen ? 'Copy lines' : 'Copy'}
          </Button>
          <a className="button button-quiet" href={path} download={file}>
            Download
          </a>
        </span>
      </div>
      {state.error === undefined ? null : <ErrorPanel error={state.error} />}
      <div
        ref={scroller}
        className="log-lines"
        role="log"
        aria-live="off"
        aria-label={label}
        // A scrollable region must be reachable by keyboard.
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
        onScroll={onScroll}
      >
        {lines === first ? <p className="pad muted">{state.notices.get(0) ?? NO_LINES[phase]}</p> : null}
        <div
          className={wrap ? 'log-canvas log-wrap' : 'log-canvas'}
          style={{ height: virtual.getTotalSize() }}
        >
          {virtual.getVirtualItems().map(({ index, start: top, key }) => {
            const line = start + index
            const text = store.line(line)
            const notice = state.notices.get(line)
            const isChosen = chosen !== undefined && line >= chosen[0] && line <= chosen[1]
            return (
              <div
                key={key}
                ref={virtual.measureElement}
                data-index={index}
                className={`log-line ${isChosen ? 'chosen' : ''} ${hits[hit] === line ? 'log-hit' : ''}`}
                style={{ transform: `translateY(${top}px)` }}
              >
                {notice === undefined ? null : <p className="log-notice">{notice}</p>}
                <a
                  className="plain-link log-number"
                  href={`#L${line + 1}`}
                  aria-label={`Link to line ${line + 1}`}
                  tabIndex={-1}
                  onClick={(event) => choose(event, line)}
                >
                  {line + 1}
                </a>
                <span className="log-text">
                  <LogLine text={text} wanted={query} />
                </span>
              </div>
            )
          })}
        </div>
      </div>
      <p className="line log-foot small muted number">
        <span role="status">{PHASES[phase]}</span>
        <span>{lines.toLocaleString()} lines</span>
        {first === 0 ? null : (
          <Button kind="quiet" onClick={loadAll}>
            Load the {first.toLocaleString()} lines before
          </Button>
        )}
        <Bytes value={state.loaded} />
        {state.loaded < state.size ? (
          <span>
            of <Bytes value={state.size} />
          </span>
        ) : null}
        {state.notices.get(lines)}
      </p>
    </section>
  )
}
