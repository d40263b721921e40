import type { Column } from './column.ts'
import { SortHead, useOrder } from './sort.tsx'

export type CardColumn<T> = Omit<Column<T>, 'width'>

interface CardTableProps<T> {
  readonly label: string
  /** The first one names the row. */
  readonly columns: readonly CardColumn<T>[]
  readonly rows: readonly T[]
  readonly keyOf: (row: T) => string
  readonly isChosen?: (row: T) => boolean
  /** Without it the order of the list stays: only a whole list can be sorted. */
  readonly isWhole?: boolean
}

/** A table of few rows, which become cards on narrow screens. */
export const CardTable = <T,>({
  label,
  columns,
  rows: given,
  keyOf,
  isChosen,
  isWhole = true,
}: CardTableProps<T>) => {
  const { rows, orderOf } = useOrder(columns, given, { given: undefined, isWhole })
  const [first, ...others] = columns
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- the keyboard can scroll it
    <div className="panel card-table" tabIndex={0} role="region" aria-label={label}>
      <table className="plain-table full-table">
        <thead>
          <tr>
            {columns.map((column) => (
              <SortHead key={column.id} as="th" column={column} order={orderOf(column)} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} className={isChosen?.(row) ? 'chosen' : ''}>
              <th scope="row">{first?.cell(row)}</th>
              {others.map(({ id, label: name, cell }) => (
                <td key={id} data-label={name}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
