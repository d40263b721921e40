import { hasColours, printLine, type Terminal } from '../terminal.ts'

export interface Column<T> {
  readonly title: string
  readonly value: (row: T) => string | number | null | undefined
  /** The values are states: good, bad or in between by their words. */
  readonly coloured?: true
}

const GAP = '  '
const DIM = '\x1b[2m'
const RESET = '\x1b[0m'
const TONES: readonly (readonly [colour: string, words: readonly string[]])[] = [
  ['\x1b[32m', ['completed', 'clean', 'active', 'idle', 'busy', 'gone', 'yes']],
  ['\x1b[31m', ['failed', 'lost', 'nothing_done', 'critical', 'high', 'new', 'back', 'confirmed']],
  ['\x1b[33m', ['partial', 'medium', 'draining', 'paused', 'not_tested', 'unreachable']],
  ['\x1b[34m', ['running', 'open', 'low']],
]
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/g

/** Replaces control characters: texts come from scanned machines, and could otherwise control the terminal. */
export const plain = (value: string | number | null | undefined): string =>
  String(value ?? '').replace(CONTROL, (character) => (character === '\n' ? ' ' : '\ufffd'))

const fit = (line: string, columns: number | undefined): string =>
  columns !== undefined && line.length > columns ? `${line.slice(0, columns - 1)}…` : line

const align = (cells: readonly string[], widths: readonly number[]): string =>
  cells.map((cell, index) => (index === cells.length - 1 ? cell : cell.padEnd(widths[index] ?? 0))).join(GAP)

/** Prints rows in aligned columns. On a terminal, lines are cut to its width. */
export const printTable = <T>(
  terminal: Terminal,
  columns: readonly Column<T>[],
  rows: readonly T[],
): void => {
  const cells = rows.map((row) => columns.map(({ value }) => plain(value(row))))
  const titles = columns.map(({ title }) => title)
  const widths = titles.map((title, index) =>
    Math.max(title.length, ...cells.map((row) => row[index]?.length ?? 0)),
  )
  const head = align(titles, widths)
  const width = terminal.out.isTTY ? terminal.out.columns : undefined
  printLine(terminal, hasColours(terminal) ? `${DIM}${fit(head, width)}${RESET}` : fit(head, width))
  const places = columns.flatMap(({ coloured }, index) =>
    coloured && hasColours(terminal)
      ? [{ index, start: widths.slice(0, index).reduce((sum, one) => sum + one + GAP.length, 0) }]
      : [],
  )
  for (const row of cells) {
    let line = fit(align(row, widths), width)
    for (const { index, start } of places.toReversed()) {
      const word = row[index] ?? ''
      const end = start + word.length
      const [tone] = TONES.find(([, words]) => words.includes(word)) ?? []
      if (tone !== undefined && end <= line.length)
        line = `${line.slice(0, start)}${tone}${word}${RESET}${line.slice(end)}`
    }
    printLine(terminal, line)
  }
}

/** Rows fit 80 columns. */
export const cut = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length - 1)}…` : text

/** A time as short as a column wants it: `03-27 02:15`, in UTC. */
export const shortTime = (time: string | null | undefined): string =>
  time === null || time === undefined ? '' : time.slice(5, 16).replace('T', ' ')

/** A value as text: `a, b` for a list, `name=value name=value` for an object. */
export const valueText = (value: unknown): string => {
  if (Array.isArray(value)) return value.map(valueText).join(', ')
  if (typeof value === 'object' && value !== null)
    return Object.entries(value)
      .map(([name, one]) => `${name}=${valueText(one)}`)
      .join(' ')
  return value === null || value === undefined ? '' : String(value as string | number | boolean)
}

/** Prints one record, a line for each field that has a value. */
export const printFields = (terminal: Terminal, fields: object): void => {
  const texts = Object.entries(fields)
    .map(([name, value]) => [name, valueText(value)] as const)
    .filter(([, text]) => text !== '')
  const width = Math.max(...texts.map(([name]) => name.length))
  for (const [name, text] of texts) printLine(terminal, `${name.padEnd(width)}${GAP}${plain(text)}`)
}

/** Prints one row of a list. */
export const printRow = <T>(terminal: Terminal, columns: readonly Column<T>[], row: T): void =>
  printFields(
    terminal,
    Object.fromEntries(columns.map(({ title, value }) => [title.toLowerCase(), value(row)])),
  )

export const printJson = (terminal: Terminal, value: unknown): void =>
  printLine(terminal, JSON.stringify(value, null, 2))
