import type { ReactNode } from 'react'

export interface Column<T> {
  readonly id: string
  readonly label: string
  /** A track of CSS grid: `120px`, `minmax(160px, 2fr)`. */
  readonly width: string
  readonly cell: (row: T) => ReactNode
  /** Hidden until the user chooses it. */
  readonly hidden?: boolean
  readonly align?: 'end'
  /** The name by which the server sorts, or what a list that is loaded completely is sorted by. */
  readonly sort?: string | ((row: T) => string | number)
}

/**
 * A column by its width, or by its width and how it is sorted, aligned or hidden; `cell` is what it shows, or the name of
 * a field.
 */
export const column = <T>(
  id: string,
  label: string,
  layout: string | Omit<Column<T>, 'id' | 'label' | 'cell'>,
  cell: Column<T>['cell'] | keyof NoInfer<T>,
): Column<T> => ({
  id,
  label,
  cell: typeof cell === 'function' ? cell : (row) => row[cell] as ReactNode,
  ...(typeof layout === 'string' ? { width: layout } : layout),
})

export interface Order {
  /** The name of a column, with a minus in reverse; '' is the order of the list. */
  readonly value: string
  readonly onChange: (value: string) => void
}
