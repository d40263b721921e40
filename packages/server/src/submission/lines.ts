import { AppError } from '@scanfarm/contracts'

const NEWLINE = 0x0a
/** A target has at most 2048 characters of at most 4 bytes; a longer line can only be something else. */
const MAX_LINE_BYTES = 64 * 1024

/**
 * The lines of a UTF-8 stream with their numbers, holding no more than a chunk and a line in memory. Refuses bytes that
 * are not UTF-8, and lines too long to be a target, naming the line.
 */
export async function* linesOf(
  source: AsyncIterable<Buffer>,
): AsyncGenerator<{ text: string; number: number }> {
  let number = 0
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of source) {
    const block = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    const end = block.lastIndexOf(NEWLINE)
    rest = block.subarray(end + 1)
    if (end >= 0) {
      const lines = decode(block.subarray(0, end), number)
      for (const text of lines) yield { text, number: (number += 1) }
    }
    if (rest.length > MAX_LINE_BYTES) throw refusal(number + 1, `is longer than ${MAX_LINE_BYTES} bytes`)
  }
  if (rest.length > 0) for (const text of decode(rest, number)) yield { text, number: (number += 1) }
}

const decode = (block: Buffer, before: number): string[] => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: before > 0 }).decode(block).split('\n')
  } catch {
    throw refusal(before + badLine(block), 'is not valid UTF-8')
  }
}

/** Number of the first line in the block that is not UTF-8, from 1. */
const badLine = (block: Buffer): number => {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let start = 0
  for (let line = 1; ; line += 1) {
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
