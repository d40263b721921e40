import type { ReactNode } from 'react'

interface PlainTableProps {
  /** The heads of the columns; without them the table has none. */
  readonly head?: readonly string[]
  /** The cells of each row; the first one names it. */
  readonly rows: readonly (readonly ReactNode[])[]
  /** As wide as its place; all columns but the first are at the end. */
  readonly full?: boolean
}

/** A small table, whole on the screen. */
export const PlainTable = ({ head, rows, full = false }: PlainTableProps) => {
  const classOf = (at: number): string | undefined => (full && at > 0 ? 'end number' : undefined)
  return (
    <table className={`plain-table ${full ? 'full-table' : ''}`}>
      {head === undefined ? null : (
        <thead>
          <tr>
            {head.map((text, at) => (
              <th key={at} scope="col" className={classOf(at)}>
                {text}
              </th>
            ))}
          </tr>
        </thead>
      )}
      <tbody>
        {rows.map(([name, ...cells], row) => (
          <tr key={row}>
            <th scope="row">{name}</th>
            {cells.map((cell, at) => (
              <td key={at} className={classOf(at + 1)}>
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
