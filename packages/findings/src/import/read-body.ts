import { StringDecoder } from 'node:string_decoder'
import { AppError, type AssetContent, type ErrorCode, type FindingContent } from '@scanfarm/contracts'

/** One record of a file. `error`: an unusable record; `reached`: a host that the scan reached, also as host:port or URL. */
export type Imported =
  | { readonly kind: 'reached'; readonly host: string }
  | { readonly kind: 'vulnerability'; readonly content: FindingContent }
  | { readonly kind: 'asset'; readonly content: AssetContent }
  | { readonly kind: 'error' }

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
  const decoder = new StringDecoder('utf8')
  let line = ''
  for await (const chunk of body) {
    for (const [index, part] of decoder.write(Buffer.from(chunk)).split('\n').entries()) {
      if (index > 0) {
        if (line.trim() !== '') yield line
        line = ''
      }
      line += part
      if (line.length > MAX_LINE) throw unreadable(`a line is longer than ${MAX_LINE} characters`)
    }
  }
  line += decoder.end()
  if (line.trim() !== '') yield line
}

/** Maximum bytes of a document that can only be parsed as a whole. */
export const MAX_DOCUMENT = 64 * 1024 * 1024

export async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > MAX_DOCUMENT)
      throw unreadable(`the document is larger than ${MAX_DOCUMENT} bytes: split it`, 'payload_too_large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/^\ufeff/, '')
}
