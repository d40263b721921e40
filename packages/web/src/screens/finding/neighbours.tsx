import { useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { findingsQuery, type FindingFilters } from '../../api/findings.ts'
import { Button, hrefWith, Link, useList, useShortcut } from '../../ui/index.ts'

/** The way back to the list with its filters, and to the findings beside this one in it. */
export const Neighbours = ({ id, filters }: { id: number; filters: FindingFilters }) => {
  const navigate = useNavigate()
  const { rows: list, total, error, more, loading, loadMore } = useList(findingsQuery(filters))
  const rows = list ?? []
  const at = rows.findIndex((row) => row.id === id)
  const previous = at > 0 ? rows[at - 1] : undefined
  const next = at >= 0 ? rows[at + 1] : undefined
  const isLast = at >= 0 && at === rows.length - 1
  useEffect(() => {
    if (isLast && more && !loading) loadMore()
  }, [isLast, more, loading, loadMore])
  const go = (row: { id: number } | undefined) => {
    if (row) void navigate({ href: hrefWith(`/findings/${row.id}`, filters) })
  }
  useShortcut('j', 'Next finding of the list', () => go(next))
  useShortcut('k', 'Previous finding of the list', () => go(previous))
  useShortcut('u', 'Back to the list', () => void navigate({ href: hrefWith('/findings', filters) }))
  return (
    <nav className="line" aria-label="List of findings" aria-busy={list === undefined && error === null}>
      <Link href={hrefWith('/findings', filters)}>← Findings</Link>
      {at < 0 ? null : (
        <span className="muted number">
          {(at + 1).toLocaleString()} of {total?.toLocaleString()}
        </span>
      )}
      <Button kind="quiet" disabled={previous === undefined} onClick={() => go(previous)}>
        <kbd>k</kbd> Previous
      </Button>
      <Button kind="quiet" disabled={next === undefined} onClick={() => go(next)}>
        <kbd>j</kbd> Next
      </Button>
    </nav>
  )
}
