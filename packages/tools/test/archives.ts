import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { pack, type Headers } from 'tar-stream'
import { ZipFile } from 'yazl'

export interface Item {
  readonly name: string
  readonly text?: string
  /** Unix mode with the type of the file. */
  readonly mode?: number
  readonly type?: Headers['type']
  readonly linkname?: string
}

/** yazl refuses names that lead out of the archive: these characters are replaced in the finished file. */
const PLACEHOLDER = 'UP'

export const zipOf = async (...items: readonly Item[]): Promise<Buffer> => {
  const zip = new ZipFile()
  for (const { name, text = '', mode } of items)
    zip.addBuffer(Buffer.from(text), name.replaceAll('..', PLACEHOLDER), {
      mode,
      compress: text.length > 100,
    })
  zip.end()
  const bytes = await buffer(zip.outputStream)
  return Buffer.from(bytes.toString('latin1').replaceAll(`${PLACEHOLDER}/`, '../'), 'latin1')
}

export const tarOf = async (...items: readonly Item[]): Promise<Buffer> => {
  const tar = pack()
  for (const { name, text = '', ...header } of items) tar.entry({ name, ...header }, text)
  tar.finalize()
  return gzipSync(await buffer(tar))
}

export const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

/** A program that prints its version, large enough to be sent in several parts. */
export const programOf = (version: string): string =>
  `#!/bin/bash\necho "Version: v${version}"\nexit\n${Array.from({ length: 100_000 }, (_, line) => `# ${line}`).join('\n')}`
