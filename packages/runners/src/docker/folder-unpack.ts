import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { extract } from 'tar-stream'
import { ReceivedFiles } from '../received-files.ts'

/**
 * Unpacks what the engine sends of `path`: names in the stream begin with the path's last part. Only files and folders
 * are taken, and only inside of `root`.
 */
export async function unpackInto(
  root: string,
  path: string,
  stream: NodeJS.ReadableStream,
  signal: AbortSignal,
): Promise<void> {
  const files = new ReceivedFiles(root)
  const entries = extract()
  const reading = pipeline(stream, entries, { signal })
  reading.catch(() => {})
  for await (const entry of entries) {
    const target = join(dirname(path), entry.header.name)
    if (entry.header.type === 'directory') await files.folder(target)
    if (entry.header.type === 'file') await writeFile(files, target, entry)
    else entry.resume()
  }
  await reading
}

async function writeFile(files: ReceivedFiles, target: string, content: Readable): Promise<void> {
  const file = await files.file(target)
  await pipeline(content, files.counted(), file.createWriteStream())
}
