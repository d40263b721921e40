import { printTable } from '../client/table.ts'
import { processTerminal } from '../terminal.ts'

/** The output of the demo: plain lines, and one line at the bottom that is redrawn during the work. */
const tty = process.stdout.isTTY === true
const coloured = tty && process.env.NO_COLOR === undefined

const colour = (code: number, text: string): string => (coloured ? `\u001b[${code}m${text}\u001b[0m` : text)
export const bold = (text: string): string => colour(1, text)
export const dim = (text: string): string => colour(2, text)
export const red = (text: string): string => colour(31, text)
export const green = (text: string): string => colour(32, text)
export const yellow = (text: string): string => colour(33, text)

let bottom = ''

const erase = (): void => {
  if (tty && bottom !== '') process.stdout.write('\r\u001b[2K')
}

export function say(line: string): void {
  erase()
  process.stdout.write(`${line}\n`)
  if (tty && bottom !== '') process.stdout.write(bottom)
}

export const title = (text: string): void => say(`${bold(text)}\n`)

/** Redraws the bottom line; does nothing if the output is not a terminal. */
export function progress(done: number, total: number, note: string): void {
  if (!tty) return
  erase()
  const width = 30
  const filled = total === 0 ? 0 : Math.round((done / total) * width)
  bottom = `${green('█'.repeat(filled))}${dim('░'.repeat(width - filled))} ${done}/${total} ${note}`
  process.stdout.write(bottom)
}

export function endProgress(): void {
  erase()
  bottom = ''
}

/** As in the lists of the other commands: words for states have colours on a terminal. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): void {
  const columns = head.map((name, index) => ({
    title: name,
    value: (row: readonly string[]) => row[index],
    coloured: true as const,
  }))
  erase()
  printTable(processTerminal(), columns, rows)
  say('')
}
