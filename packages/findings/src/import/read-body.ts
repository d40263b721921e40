import { TextDecoder } from 'node:util'
import { AppError, type AssetContent, type ErrorCode, type FindingContent } from '@scanfarm/contracts'

/**
 * One record of a file. `reached`: a host that the scan reached, also as host:port or URL. `folder`: all files of the report
 * are absolute paths, which were made relative to the folder that they have in common. `error`: an unusable record.
 * `failed`: the scan could not look at a host or file, or, if none is named, at everything in its scope. `silent`: nothing
 * came back from a host, or from these of its ports (a multirange of Postgres); that is no error.
 */
export type Imported =
  | { readonly kind: 'reached'; readonly host: string }
  | { readonly kind: 'silent'; readonly host: string; readonly ports?: string; readonly reason: string }
  | { readonly kind: 'folder'; readonly folder: string }
  | { readonly kind: 'vulnerability'; readonly content: FindingContent }
  | { readonly kind: 'asset'; readonly content: AssetContent }
  | { readonly kind: 'error'; readonly reason?: string; readonly line?: number }
  | {
      readonly kind: 'failed'
      readonly reason: string
      /** With `check`, also host:port. */
      readonly host?: string
      readonly file?: string
      /** Only this check failed there. */
      readonly check?: string
    }

/** Maximum characters of a problem; the message of a parser may contain a part of the file. */
const MAX_PROBLEM = 500

/** The error for a file that does not match its format. */
export const unreadable = (problem: string, code: ErrorCode = 'invalid_input', cause?: unknown): AppError =>
  new AppError(code, `the findings cannot be read: ${problem.slice(0, MAX_PROBLEM).toWellFormed()}`, {
    cause,
  })

/** Maximum characters of one line. */
const MAX_LINE = 8 * 1024 * 1024

/** The non-blank lines of a stream, without line breaks. */
export async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let line = ''
  for await (const text of textsOf(body)) {
    for (const [index, part] of text.split('\n').entries()) {
      if (index > 0) {
        if (line.trim() !== '') yield line
        line = ''
      }
      line += part
      if (line.length > MAX_LINE) throw unreadable(`a line is longer than ${MAX_LINE} characters`)
    }
  }
  if (line.trim() !== '') yield line
}

/** Maximum characters of one record of a report; a longer one is skipped as a problem. */
export const MAX_RECORD = 16 * 1024 * 1024

/** Maximum levels of lists and objects, or elements, in a record. */
export const MAX_DEPTH = 200

/** Beginning of an unreadable part that a problem contains. */
export const MAX_EXCERPT = 200

/**
 * What a reader finds in a report, in the order of the file. `value`: a value whose path matches the pattern `at`; `path`
 * names the keys and indexes on the way. `problem`: a part that cannot be read; `text` is its beginning.
 */
export type ReportPart =
  | {
      readonly kind: 'value'
      readonly at: string
      readonly path: readonly string[]
      readonly line: number
      readonly value: unknown
    }
  | { readonly kind: 'problem'; readonly line: number; readonly reason: string; readonly text: string }

/** Longer declarations of XML are not read. */
const MAX_DECLARATION = 128

/** By the byte order mark, by the zero bytes of its first character, or as XML declares it. */
export const encodingOf = (first: Uint8Array): string => {
  const [a, b] = first
  if ((a === 0xff && b === 0xfe) || (a !== 0 && b === 0)) return 'utf-16le'
  if ((a === 0xfe && b === 0xff) || (a === 0 && b !== 0 && b !== undefined)) return 'utf-16be'
  const head = Buffer.from(first.subarray(0, MAX_DECLARATION)).toString('latin1')
  const [, declared = ''] = /^\s*<\?xml\s[^>]*\bencoding\s*=\s*["']([^"']+)/.exec(head) ?? []
  try {
    const { encoding } = new TextDecoder(declared.trim())
    // The bytes are not UTF-16, whatever the declaration says: the file was converted after the tool wrote it.
    return encoding.startsWith('utf-16') ? 'utf-8' : encoding
  } catch {
    return 'utf-8'
  }
}

/** The text of a body in pieces, without a byte order mark. */
export async function* textsOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let decoder: TextDecoder | undefined
  let head: Uint8Array = new Uint8Array()
  for await (const chunk of body) {
    head = decoder === undefined && head.length > 0 ? Buffer.concat([head, chunk]) : chunk
    if (decoder === undefined && head.length < MAX_DECLARATION) continue
    decoder ??= new TextDecoder(encodingOf(head))
    yield decoder.decode(head, { stream: true })
  }
  yield decoder === undefined ? new TextDecoder(encodingOf(head)).decode(head) : decoder.decode()
}

/** The first character of a body that is no space, or `""`, and the whole body. */
export const startOf = async (
  body: AsyncIterable<Uint8Array>,
): Promise<{ first: string; rest: AsyncIterable<Uint8Array> }> => {
  const chunks = body[Symbol.asyncIterator]()
  const read: Uint8Array[] = []
  let first = ''
  while (first === '') {
    const next = await chunks.next()
    if (next.done === true) break
    read.push(next.value)
    first = /[^\s\ufeff\u0000\ufffd]/.exec(Buffer.from(next.value).toString('utf8'))?.[0] ?? ''
  }
  return { first, rest: rejoined(read, chunks) }
}

/** The chunks that were read already, and the rest. */
export async function* rejoined(
  first: readonly Uint8Array[],
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    yield* first
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value
  } finally {
    await rest.return?.()
  }
}
