import type { OnBytes } from '@scanfarm/tools'
import type { Terminal } from '../terminal.ts'

const MEBI = 1024 * 1024
const EVERY_MS = 100
const CLEAR = '\r\x1b[K'

const size = (bytes: number): string => (bytes / MEBI).toFixed(1)

/** Shows the progress of downloads: a line that changes on a terminal, one line for each download elsewhere. */
export const showProgress = ({ err }: Terminal, what: string): { onBytes: OnBytes; end: () => void } => {
  if (err.isTTY !== true) {
    err.write(`${what}: downloading\n`)
    return { onBytes: () => undefined, end: () => undefined }
  }
  let shownAt = -Infinity
  return {
    onBytes(received, total) {
      if (received !== total && performance.now() - shownAt < EVERY_MS) return
      shownAt = performance.now()
      err.write(`${CLEAR}${what}: ${size(received)}${total === undefined ? '' : ` of ${size(total)}`} MiB`)
    },
    end: () => void err.write(CLEAR),
  }
}
