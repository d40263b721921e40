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

export interface Order {
  /** The name of a column, with a minus in reverse; '' is the order of the list. */
  readonly value: string
  readonly onChange: (value: string) => void
}
