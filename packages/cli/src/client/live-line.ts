import type { Terminal } from '../terminal.ts'
import { plain } from './table.ts'

const CLEAR_LINE = '\r\x1b[K'

export interface LiveLine {
  update(text: string): void
  end(): void
}

/** A line on the error stream that is drawn over itself on a terminal; elsewhere every change is a line. */
export const showLine = ({ err }: Terminal): LiveLine => {
  let last = ''
  return {
    update(text) {
      const line =
        err.isTTY && err.columns !== undefined ? plain(text).slice(0, err.columns - 1) : plain(text)
      if (line === last) return
      last = line
      err.write(err.isTTY ? `${CLEAR_LINE}${line}` : `${line}\n`)
    },
    end: () => void (err.isTTY && last !== '' && err.write('\n')),
  }
}
