import { Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { plain } from '../client/table.ts'
import type { Terminal } from '../terminal.ts'

/** A longer line is passed on in pieces of this size. */
const MAX_LINE = 64 * 1024

interface Lines {
  readonly stream: NodeJS.WritableStream & { readonly isTTY?: boolean }
  /** The start of an unfinished line. */
  flush(): void
}

const lines = (out: Terminal['out'], label: string): Lines => {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  const write = (line: string): void => void out.write(`[${label}] ${line}\n`)
  const stream = new Writable({
    decodeStrings: true,
    write(chunk: Buffer, _encoding, done) {
      const parts = (rest + decoder.write(chunk)).split('\n')
      rest = parts.pop() ?? ''
      for (const line of parts) write(line)
      if (rest.length > MAX_LINE) write(rest)
      if (rest.length > MAX_LINE) rest = ''
      done()
    },
  })
  const flush = (): void => {
    if (rest !== '') write(rest)
    rest = ''
  }
  return { stream: Object.assign(stream, out.isTTY === undefined ? {} : { isTTY: out.isTTY }), flush }
}

/** A terminal that prefixes each line with a label, to distinguish simultaneous runs. */
export const labelled = (terminal: Terminal, text: string): Terminal & { flush(): void } => {
  const label = plain(text)
  const [out, err] = [lines(terminal.out, label), lines(terminal.err, label)]
  return {
    ...terminal,
    out: out.stream,
    err: err.stream,
    flush() {
      out.flush()
      err.flush()
    },
  }
}
