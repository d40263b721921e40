import { StringDecoder } from 'node:string_decoder'
import { unreadable } from './unreadable.ts'

/** Most characters of one line. */
const MAX_LINE = 8 * 1024 * 1024

/** Lines of a stream of bytes that are not blank, without their ends. */
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

/** Most bytes of a document that can only be read as a whole. */
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
