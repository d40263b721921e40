import { constants } from 'node:fs/promises'
import { StringDecoder } from 'node:string_decoder'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { codeOf } from '@scanfarm/language'
import type { FileScope } from '../paths/allowed.ts'
import { openFile } from '../paths/run-folder.ts'

/** Maximum number of characters of one line. */
export const MAX_LINE = 16 << 20
/** Time after which work on lines yields to the event loop. */
const TURN_MS = 10

/** Lines of a text file of any size; none for a missing file. Throws on cancellation. */
export const linesOf = async function* (path: string, scope: FileScope): AsyncGenerator<string> {
  let turnEnds = performance.now() + TURN_MS
  try {
    const stream = (await openFile(path, scope, constants.O_RDONLY)).createReadStream()
    try {
      for await (const line of linesIn(stream, path)) {
        yield line
        if (performance.now() < turnEnds) continue
        await nextTurn()
        scope.signal?.throwIfAborted()
        turnEnds = performance.now() + TURN_MS
      }
    } finally {
      stream.destroy()
    }
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}

/** Lines end with a line feed, a carriage return, or both. */
const linesIn = async function* (chunks: AsyncIterable<unknown>, path: string): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8')
  let parts: string[] = []
  let length = 0
  const take = (text: string): string => {
    const line = parts.length === 0 ? text : parts.join('') + text
    parts = []
    length = 0
    return line.endsWith('\r') ? line.slice(0, -1) : line
  }
  for await (const chunk of chunks) {
    if (!(chunk instanceof Uint8Array)) continue
    const text = decoder.write(chunk)
    let from = 0
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
      const line = take(text.slice(from, end))
      from = end + 1
      if (line.includes('\r')) yield* line.split('\r')
      else yield line
    }
    if (from === text.length) continue
    parts.push(text.slice(from))
    length += text.length - from
    if (length > MAX_LINE)
      throw new Error(`${path} has a line of more than ${MAX_LINE} characters; work on it with a command`)
  }
  const last = take(decoder.end())
  if (last !== '') yield* last.split('\r')
}

/** Maximum number of distinct texts that a function keeps while it reads a file. */
const MAX_DISTINCT = 1_000_000

/** A set of texts with a limit. */
export class Distinct {
  readonly #seen = new Set<string>()

  /** True if the text is new. */
  add(text: string): boolean {
    if (this.#seen.has(text)) return false
    if (this.#seen.size >= MAX_DISTINCT)
      throw new Error(`more than ${MAX_DISTINCT} different lines; work on the file with a command`)
    this.#seen.add(text)
    return true
  }

  has(text: string): boolean {
    return this.#seen.has(text)
  }

  sorted(): string[] {
    return [...this.#seen].sort()
  }
}

export const isMissing = (error: unknown): boolean =>
  codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR'

/** Counts non-empty lines by their bytes, so that large files need no memory. */
export const countLines = async (path: string, scope: FileScope): Promise<number> => {
  let count = 0
  let filled = false
  try {
    for await (const chunk of (await openFile(path, scope, constants.O_RDONLY)).createReadStream()) {
      if (!(chunk instanceof Uint8Array)) continue
      for (const byte of chunk) {
        if (byte === 10) {
          if (filled) count++
          filled = false
        } else if (byte !== 13 && byte !== 32 && byte !== 9) filled = true
      }
    }
  } catch (error) {
    if (!isMissing(error) && !isFolder(error)) throw error
  }
  return count + (filled ? 1 : 0)
}

const isFolder = (error: unknown): boolean => codeOf(error) === 'EISDIR'
