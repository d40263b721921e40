import type { Pagination } from '@scanfarm/contracts'
import { wholeNumber, wholeNumberOrZero } from '../options.ts'
import { printLine, type Terminal } from '../terminal.ts'
import type { Fields } from './fields.ts'
import { printTable, type Column } from './table.ts'

/** Options of lists in pages. */
export const PAGE = {
  limit: ['--limit <count>', 'maximum number of records', wholeNumber],
  offset: ['--offset <count>', 'number of records to skip', wholeNumberOrZero],
} as const satisfies Fields

interface Page<T> {
  readonly data: readonly T[]
  readonly pagination?: Pagination
}

export const printPage = <T>(
  terminal: Terminal,
  columns: readonly Column<T>[],
  { data, pagination }: Page<T>,
): void => {
  printTable(terminal, columns, data)
  if (pagination === undefined) return
  const { total, offset } = pagination
  const next = offset + data.length
  if (next < total) printLine(terminal, `${data.length} of ${total}; continue with --offset ${next}`)
}

/** Prints the records of a list, or one page of it, in columns. */
export const inColumns =
  <T>(columns: readonly Column<T>[]) =>
  (terminal: Terminal, answer: Page<T> | readonly T[]): void =>
    printPage(terminal, columns, 'data' in answer ? answer : { data: answer })
