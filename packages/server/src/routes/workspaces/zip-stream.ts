import type { Readable } from 'node:stream'
import { ZipFile } from 'yazl'
import type { Entry } from './snapshot-entries.ts'

/**
 * Creates a zip while it is read: one file is open at a time, and the next one is opened after it was sent. If an entry
 * fails, the stream ends with its error, so that a partial file is not mistaken for a complete one.
 */
export const zipOf = (entries: AsyncGenerator<Entry, void>): Readable => {
  const zip = new ZipFile()
  const output = zip.outputStream as Readable
  let open: Readable | undefined
  const fail = (error: unknown): void => {
    output.destroy(Error.isError(error) ? error : new Error(String(error)))
  }
  zip.on('error', fail)
  output.once('close', () => {
    open?.destroy()
    entries.return(undefined).catch(() => undefined)
  })
  const next = async (): Promise<void> => {
    for (;;) {
      const turn = await entries.next()
      if (output.destroyed) return
      if (turn.done === true) return zip.end()
      const entry = turn.value
      const content = await entry.open()
      if (content === undefined) continue
      if (output.destroyed) return void content.destroy()
      open = content
      content.once('error', fail)
      content.once('end', () => void next().catch(fail))
      return zip.addReadStream(content, entry.name, { mtime: entry.at })
    }
  }
  next().catch(fail)
  return output
}
