import { lstat } from 'node:fs/promises'
import { basename, resolve, sep } from 'node:path'
import { Readable } from 'node:stream'
import type {
  ArtifactStore,
  CollectArtifact,
  Collected,
  CollectRequest,
  ContentType,
} from '@scanfarm/contracts'
import { contentTypeOf, isText, likelyTypeOf } from './content-type.ts'
import { folderTar } from './folder-tar.ts'
import { keyPart } from './key.ts'
import { openInside, type OpenedInside } from './open-inside.ts'
import { readAs } from './read-as.ts'

/** Implements `CollectArtifact` of contracts. */
export const collectArtifact: CollectArtifact = async (store, request) => {
  const found = await openInside(request.path, request.roots)
  if (found.kind === 'refused') return found.closed === true ? await collectAs(store, request, found) : found
  await using _file = found.file
  if (found.kind === 'file' && found.size > request.maxBytes)
    return {
      kind: 'refused',
      reason: `it has ${found.size} bytes, more than the ${request.maxBytes} allowed`,
    }
  const contentType = found.kind === 'folder' ? 'folder' : typeOfFile(request)
  return await keep(store, request, contentType, bodyOf(found, request))
}

/** Collects a file or folder that only its owner can read, with the rights of the owner. */
const collectAs = async (
  store: ArtifactStore,
  request: CollectRequest,
  refused: Extract<Collected, { kind: 'refused' }>,
): Promise<Collected> => {
  const { path, owner, maxBytes, roots } = request
  if (owner === undefined || !roots.some((root) => resolve(path).startsWith(root + sep))) return refused
  const found = await lstat(path).catch(() => undefined)
  if (found?.isDirectory() === true)
    return await keep(store, request, 'folder', folderTar(path, maxBytes, owner))
  return await keep(store, request, typeOfFile(request), Readable.from(readAs(path, owner, maxBytes)))
}

const keep = async (
  store: ArtifactStore,
  request: CollectRequest,
  contentType: ContentType,
  body: Readable,
): Promise<Collected> => {
  const name = keyPart(basename(request.path)) + (contentType === 'folder' ? '.tar' : '')
  const storeKey = `${request.keyPrefix}/${name}`
  const counted = countLines(body)
  const { mask = (bytes) => bytes } = request
  try {
    const { size, sha256 } = await store.put(storeKey, Readable.from(mask(counted.chunks())))
    const lineCount = isText(contentType) ? counted.lines() : 0
    const likelyType = likelyTypeOf(request.path)
    return { kind: 'stored', storeKey, contentType, likelyType, sizeBytes: size, lineCount, sha256 }
  } catch (error) {
    const reason = counted.problem()
    if (reason === undefined) throw error
    return { kind: 'refused', reason }
  }
}

/** The content type `folder` is ignored for files. */
const typeOfFile = (request: CollectRequest): ContentType =>
  request.contentType === undefined || request.contentType === 'folder'
    ? contentTypeOf(request.path)
    : request.contentType

const bodyOf = (
  found: Exclude<OpenedInside, { kind: 'refused' }>,
  { maxBytes, owner }: CollectRequest,
): Readable => {
  if (found.kind === 'folder') return folderTar(found.path, maxBytes, owner)
  if (found.size === 0) return Readable.from([])
  return found.file.createReadStream({ start: 0, end: found.size - 1, autoClose: false })
}

const NEWLINE = 0x0a

/** Forwards chunks and counts lines. `problem` is the error of the source, as opposed to one of the store. */
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
      const pieces: AsyncIterable<Buffer> = source
      for await (const chunk of pieces) {
        for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) breaks += 1
        last = chunk.at(-1) ?? last
        yield chunk
      }
    },
    lines: () => breaks + (last === NEWLINE ? 0 : 1),
    problem: () => problem,
  }
}
