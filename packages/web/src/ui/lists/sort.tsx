import { useMemo, useState } from 'react'
import type { Column, Order } from './column.ts'

/** Sorts rows here, unless the server has done so. `orderOf`: how a column is sorted, if it can be. */
export const useOrder = <T,>(
  columns: readonly Pick<Column<T>, 'id' | 'sort'>[],
  rows: readonly T[],
  { given: order, isWhole }: { given: Order | undefined; isWhole: boolean },
) => {
  const [value, onChange] = useState('')
  const id = value.replace(/^-/, '')
  const by = order ? undefined : columns.find((column) => column.id === id)?.sort
  const sorted = useMemo(() => {
    if (typeof by !== 'function') return rows
    const direction = value.startsWith('-') ? -1 : 1
    return rows.toSorted((a, b) => direction * compare(by(a), by(b)))
  }, [rows, by, value])
  const orderOf = ({ sort }: Pick<Column<T>, 'sort'>): Order | undefined => {
    if (typeof sort === 'string') return order
    return sort && isWhole && !order ? { value, onChange } : undefined
  }
  return { rows: sorted, orderOf }
}

const compare = (a: string | number, b: string | number): number =>
  typeof a === 'number' && typeof b === 'number'
    ? a - b
    : String(a).localeCompare(String(b), undefined, { numeric: true })

/** The head of a column, which sorts the list if the column can: once up, once down, then as the list was. */
export const SortHead = <T,>({
  column: { id, label, align, sort },
  order,
  as: Tag = 'span',
}: {
  column: Pick<Column<T>, 'id' | 'label' | 'align' | 'sort'>
  order: Order | undefined
  as?: 'span' | 'th'
}) => {
  const name = typeof sort === 'string' ? sort : id
  const at = order?.value === name ? 'ascending' : order?.value === `-${name}` ? 'descending' : undefined
  const next = at === undefined ? name : at === 'ascending' ? `-${name}` : ''
  return (
    <Tag role="columnheader" className={align === 'end' ? 'end' : ''} aria-sort={at}>
      {order ? (
        <button type="button" className="bare sort" onClick={() => order.onChange(next)}>
          {label}
          <span aria-hidden="true">{at === undefined ? '' : at === 'ascending' ? ' ↑' : ' ↓'}</span>
        </button>
      ) : (
        label
      )}
    </Tag>
  )
}
