import { AppError } from '@scanfarm/contracts'

const NEWLINE = 0x0a
/** A target has at most 2048 characters of at most 4 bytes; a longer line can only be something else. */
const MAX_LINE_BYTES = 64 * 1024

/** Neighbouring lines: handing on each by itself would cost more than everything that is done with it. */
export interface Lines {
  /** Number of the first, from 1. */
  readonly first: number
  readonly texts: readonly string[]
}

/**
 * The lines of a UTF-8 stream, holding no more than a chunk and a line in memory. Refuses bytes that are not UTF-8, and
 * lines too long to be a target, naming the line.
 */
export async function* linesOf(source: AsyncIterable<Buffer>): AsyncGenerator<Lines> {
  let first = 1
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of source) {
    const block = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    const end = block.lastIndexOf(NEWLINE)
    rest = block.subarray(end + 1)
    if (end >= 0) {
      const texts = decode(block.subarray(0, end), first)
      yield { first, texts }
      first += texts.length
    }
    if (rest.length > MAX_LINE_BYTES) throw refusal(first, `is longer than ${MAX_LINE_BYTES} bytes`)
  }
  if (rest.length > 0) yield { first, texts: decode(rest, first) }
}

const decode = (block: Buffer, first: number): string[] => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: first > 1 }).decode(block).split('\n')
  } catch {
    throw refusal(first + badLine(block), 'is not valid UTF-8')
  }
}

/** Index of the first line in the block that is not UTF-8. */
const badLine = (block: Buffer): number => {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let start = 0
  for (let line = 0; ; line += 1) {
    const newline = block.indexOf(NEWLINE, start)
    const end = newline < 0 ? block.length : newline
    try {
      decoder.decode(block.subarray(start, end))
    } catch {
      return line
    }
    if (newline < 0) return line
    start = end + 1
  }
}

const refusal = (line: number, what: string): AppError =>
  new AppError('invalid_target', `target_file: line ${line} ${what}`, {
    details: [{ path: '/target_file', message: `line ${line} ${what}` }],
  })
