import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef, useState, type ReactNode } from 'react'
import { useNavigate } from '@tanstack/react-router'
import { Button } from '../button.tsx'
import type { Column, Order } from './column.ts'
import { Menu } from '../overlays/menu.tsx'
import { EmptyState, ErrorPanel, Skeleton } from '../page.tsx'
import { useShortcut } from '../shortcuts.ts'
import { SortHead, useOrder } from './sort.tsx'

export interface DataTableProps<T> {
  /** For screen readers, and the name below which the browser remembers the columns. */
  readonly label: string
  readonly columns: readonly Column<T>[]
  /** What `useList` returns. */
  readonly list: {
    /** Changes when the list shows something else, for example with other filters. */
    readonly id?: string
    /** Rows that arrive above those on the screen wait until the user wants to see them. */
    readonly growing?: boolean
    readonly rows: readonly T[] | undefined
    readonly total?: number
    readonly error?: unknown
    readonly retry?: () => void
    readonly more?: boolean
    readonly loading?: boolean
    readonly loadMore?: () => void
  }
  /** How the server has sorted the list. */
  readonly order?: Order
  readonly keyOf: (row: T) => string
  /** Shown without rows: what is missing, and what to do. */
  readonly none: string
  readonly advice?: ReactNode
  /** Enter on the row under the cursor: the page that it opens, or what it does. */
  readonly hrefOf?: (row: T) => string
  readonly onOpen?: (row: T) => void
  /** With it rows can be selected: the buttons for the selected rows. */
  readonly bulk?: (rows: readonly T[], clear: () => void) => ReactNode
}

const ROW_PX = 36
/** More rows are loaded when so few are left below those on the screen. */
const ROWS_AHEAD = 30
const NO_ROWS: readonly never[] = []

const storedColumns = (label: string): readonly string[] | undefined =>
  localStorage.getItem(`columns ${label}`)?.split(' ')

/**
 * In a list that the farm makes longer, new rows above those on the screen would move them: they wait until the user wants
 * to see them. The rows on the screen change in place.
 */
const useSteadyRows = <T,>(
  { id = '', growing = false }: DataTableProps<T>['list'],
  fresh: readonly T[],
  keyOf: (row: T) => string,
) => {
  const [shown, setShown] = useState({ id, fresh, rows: fresh })
  let { rows } = shown
  if (shown.id !== id || shown.fresh !== fresh) {
    rows = growing && shown.id === id ? withoutNew(shown.rows, fresh, keyOf) : fresh
    setShown({ id, fresh, rows })
  }
  return {
    rows,
    waiting:
      fresh.length === 0
        ? 0
        : fresh.findIndex((row) => rows[0] !== undefined && keyOf(row) === keyOf(rows[0])),
    showAll: () => setShown({ id, fresh, rows: fresh }),
  }
}

const withoutNew = <T,>(
  before: readonly T[],
  fresh: readonly T[],
  keyOf: (row: T) => string,
): readonly T[] => {
  if (before.length === 0) return fresh
  const known = new Set(before.map(keyOf))
  const first = fresh.findIndex((row) => known.has(keyOf(row)))
  // None of the rows on the screen is in the list any more.
  return first < 0 ? fresh : fresh.slice(first)
}

/** A virtual table: keys j, k and Enter move and open, x selects. */
export const DataTable = <T,>({
  label,
  columns,
  list,
  order,
  keyOf,
  none,
  advice,
  hrefOf,
  onOpen,
  bulk,
}: DataTableProps<T>) => {
  const navigate = useNavigate()
  const scroller = useRef<HTMLDivElement>(null)
  const [cursor, setCursor] = useState(-1)
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const [shown, setShown] = useState<readonly string[]>(
    () => storedColumns(label) ?? columns.filter(({ hidden }) => hidden !== true).map(({ id }) => id),
  )
  const { rows: steady, waiting, showAll } = useSteadyRows(list, list.rows ?? NO_ROWS, keyOf)
  const { rows, orderOf } = useOrder(columns, steady, { given: order, isWhole: list.more !== true })
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
  })
  const last = virtual.getVirtualItems().at(-1)?.index ?? -1
  const { more = false, loading = false, error, loadMore } = list
  const isShort = more && !loading && !error && last >= rows.length - ROWS_AHEAD
  useEffect(() => {
    if (isShort) loadMore?.()
  }, [isShort, loadMore])
  // Other filters or another order: another list.
  useEffect(() => {
    scroller.current?.scrollTo({ top: 0 })
  }, [list.id])
  const move = (by: number) => {
    const next = Math.min(rows.length - 1, Math.max(0, cursor + by))
    setCursor(next)
    if (next >= 0) virtual.scrollToIndex(next)
  }
  const toggle = (key: string) => setSelected((before) => before.symmetricDifference(new Set([key])))
  const clear = () => setSelected(new Set())
  useShortcut('j', 'Next row', () => move(1))
  useShortcut('k', 'Previous row', () => move(-1))
  useShortcut('Enter', 'Open the row', () => {
    const row = rows[cursor]
    const { activeElement: active } = document
    const isFree = active === null || active === document.body || active === scroller.current
    if (row === undefined || (!isFree && !active.matches('input[type="checkbox"]'))) return false
    onOpen?.(row)
    const href = hrefOf?.(row) ?? ''
    if (href !== '') void navigate({ href })
    return true
  })
  useShortcut('x', 'Select the row', () => {
    const row = rows[cursor]
    if (row !== undefined && bulk) toggle(keyOf(row))
  })
  if (list.error && !list.rows) return <ErrorPanel error={list.error} onRetry={list.retry} />
  if (!list.rows) return <Skeleton lines={8} />
  if (rows.length === 0) return <EmptyState title={none}>{advice}</EmptyState>
  const visible = columns.filter(({ id }) => shown.includes(id))
  const tracks = `${bulk ? '32px ' : ''}${visible.map(({ width }) => width).join(' ')}`
  const chosen = rows.filter((row) => selected.has(keyOf(row)))
  const choose = (id: string) => {
    const next = shown.includes(id) ? shown.filter((other) => other !== id) : [...shown, id]
    localStorage.setItem(`columns ${label}`, next.join(' '))
    setShown(next)
  }
  return (
    <div className="panel">
      <div className="table-bar">
        {chosen.length > 0 && bulk ? (
          <>
            <strong className="number">{chosen.length} selected</strong>
            {bulk(chosen, clear)}
          </>
        ) : (
          <span className="muted number">
            {list.total === undefined ? `${rows.length} loaded` : `${list.total.toLocaleString()} in all`}
          </span>
        )}
        {waiting > 0 ? (
          <button
            type="button"
            className="button button-plain"
            onClick={() => {
              showAll()
              scroller.current?.scrollTo({ top: 0 })
            }}
          >
            ↑ {waiting.toLocaleString()} new
          </button>
        ) : null}
        <Menu
          label="Columns"
          items={columns.map(({ id, label: text }) => ({
            label: text,
            checked: shown.includes(id),
            onSelect: () => choose(id),
          }))}
        >
          Columns
        </Menu>
      </div>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- the keyboard can scroll it */}
      <div ref={scroller} className="table-scroll" tabIndex={0} role="region" aria-label={label}>
        <div role="table" aria-label={label} aria-rowcount={list.total ?? rows.length} className="table">
          <div role="row" className="row row-head caption" style={{ gridTemplateColumns: tracks }}>
            {bulk ? (
              <span role="columnheader">
                <input
                  type="checkbox"
                  aria-label="Select all loaded rows"
                  checked={chosen.length === rows.length}
                  onChange={() =>
                    chosen.length === rows.length ? clear() : setSelected(new Set(rows.map(keyOf)))
                  }
                />
              </span>
            ) : null}
            {visible.map((column) => (
              <SortHead key={column.id} column={column} order={orderOf(column)} />
            ))}
          </div>
          <div role="rowgroup" className="rows" style={{ height: virtual.getTotalSize() }}>
            {virtual.getVirtualItems().map(({ index, start }) => {
              const row = rows[index]
              if (row === undefined) return null
              const key = keyOf(row)
              return (
                <div
                  role="row"
                  key={key}
                  aria-rowindex={index + 2}
                  className={`row ${index === cursor ? 'row-cursor' : ''} ${selected.has(key) ? 'row-selected' : ''}`}
                  style={{ gridTemplateColumns: tracks, transform: `translateY(${start}px)` }}
                >
                  {bulk ? (
                    <span role="cell">
                      <input
                        type="checkbox"
                        aria-label={`Select ${key}`}
                        checked={selected.has(key)}
                        onChange={() => toggle(key)}
                      />
                    </span>
                  ) : null}
                  {visible.map(({ id, cell, align }) => {
                    const content = cell(row)
                    const title = typeof content === 'string' ? content : undefined
                    return (
                      <span role="cell" key={id} className={align === 'end' ? 'end' : ''} title={title}>
                        {content}
                      </span>
                    )
                  })}
                </div>
              )
            })}
          </div>
        </div>
        {more ? (
          <div className="pad muted" role="status">
            {error ? <Button onClick={loadMore}>Load the next rows again</Button> : 'Loading…'}
          </div>
        ) : null}
      </div>
    </div>
  )
}
