import { Readable } from 'node:stream'
import type { ArtifactStore, ContentType } from '@scanfarm/contracts'
import { contentTypeOf, isText } from './content-type.ts'
import { folderTar } from './folder-tar.ts'
import { openInside, type OpenedInside } from './open-inside.ts'

export interface CollectRequest {
  /** Absolute; a regular file, or a folder, which is kept as one tar. */
  readonly path: string
  /** Folders of the run, absolute; anything that really lies elsewhere is refused. */
  readonly roots: readonly string[]
  /** Where to put it; `.tar` is appended for a folder. */
  readonly key: string
  /** Given by the workflow; missing: by extension. */
  readonly contentType?: ContentType
  readonly maxBytes: number
}

export type Collected =
  | {
      readonly kind: 'stored'
      readonly storeKey: string
      readonly contentType: ContentType
      readonly sizeBytes: number
      /** Of text; a last line without line break counts. 0 for anything else. */
      readonly lineCount: number
      /** Hex. */
      readonly sha256: string
    }
  | { readonly kind: 'refused'; readonly reason: string }

/**
 * Copies a file that commands have made into the store. The file as it is now counts: bytes that are appended while
 * it is copied are left out. Rejects only when the store does.
 */
export async function collectArtifact(store: ArtifactStore, request: CollectRequest): Promise<Collected> {
  const found = await openInside(request.path, request.roots)
  if (found.kind === 'refused') return found
  await using _file = found.file
  if (found.kind === 'file' && found.size > request.maxBytes)
    return {
      kind: 'refused',
      reason: `it has ${found.size} bytes, more than the ${request.maxBytes} allowed`,
    }
  const contentType = found.kind === 'folder' ? 'folder' : typeOfFile(request)
  const storeKey = found.kind === 'folder' ? `${request.key}.tar` : request.key
  const counted = countLines(bodyOf(found, request.maxBytes))
  try {
    const { size, sha256 } = await store.put(storeKey, Readable.from(counted.chunks()))
    const lineCount = isText(contentType) ? counted.lines() : 0
    return { kind: 'stored', storeKey, contentType, sizeBytes: size, lineCount, sha256 }
  } catch (error) {
    const reason = counted.problem()
    if (reason === undefined) throw error
    return { kind: 'refused', reason }
  }
}

/** A file is no folder, whatever the workflow says. */
const typeOfFile = (request: CollectRequest): ContentType =>
  request.contentType === undefined || request.contentType === 'folder'
    ? contentTypeOf(request.path)
    : request.contentType

const bodyOf = (found: Exclude<OpenedInside, { kind: 'refused' }>, maxBytes: number): Readable => {
  if (found.kind === 'folder') return folderTar(found.path, maxBytes)
  if (found.size === 0) return Readable.from([])
  return found.file.createReadStream({ start: 0, end: found.size - 1, autoClose: false })
}

const NEWLINE = 0x0a

/** Passes chunks on, counting; `problem` tells apart a source that failed from a store that did. */
const countLines = (
  source: Readable,
): { chunks(): AsyncGenerator<Buffer>; lines(): number; problem(): string | undefined } => {
  let breaks = 0
  let last = NEWLINE
  let problem: string | undefined
  const noteProblem = (error: Error): void => {
    problem = error.message
  }
  source.once('error', noteProblem)
  return {
    async *chunks() {
      for await (const piece of source) {
        const chunk: Buffer = Buffer.isBuffer(piece) ? piece : Buffer.from(piece)
        for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) breaks += 1
        last = chunk.at(-1) ?? last
        yield chunk
      }
    },
    lines: () => breaks + (last === NEWLINE ? 0 : 1),
    problem: () => problem,
  }
}
