import { basename } from 'node:path'
import { Readable } from 'node:stream'
import type {
  ArtifactStore,
  CollectArtifact,
  Collected,
  CollectRequest,
  ContentType,
} from '@scanfarm/contracts'
import { Folder, unless, type PathHandle } from '@scanfarm/paths'
import { contentTypeOf, isText, likelyTypeOf } from './content-type.ts'
import { folderTar } from './folder-tar.ts'
import { keyPart } from './key.ts'
import { CLOSED, openInside } from './open-inside.ts'
import { readAs, type FileUser } from './read-as.ts'

/** Implements `CollectArtifact` of contracts. */
export const collectArtifact: CollectArtifact = async (store, request) => {
  const { path, owner, maxBytes } = request
  const found = await openInside(path, request.roots)
  if (found.kind === 'refused')
    // A folder on the way is closed: only the owner can read what is below it.
    return found.reason === CLOSED && owner !== undefined ? await collectAs(store, request, owner) : found
  using handle = found.handle
  if (handle instanceof Folder)
    return await keep(store, request, 'folder', folderTar({ folder: handle, path, maxBytes, owner }))
  return await collectFile(store, request, handle)
}

const collectFile = async (
  store: ArtifactStore,
  request: CollectRequest,
  handle: PathHandle,
): Promise<Collected> => {
  const { owner, maxBytes } = request
  const file = await handle.open().catch(unless(['EACCES'], () => undefined))
  if (file === undefined)
    return owner === undefined ? { kind: 'refused', reason: CLOSED } : await collectAs(store, request, owner)
  await using _ = file
  const { size } = await file.stat()
  if (size > maxBytes)
    return { kind: 'refused', reason: `it has ${size} bytes, more than the ${maxBytes} allowed` }
  const body =
    size === 0 ? Readable.from([]) : file.createReadStream({ start: 0, end: size - 1, autoClose: false })
  return await keep(store, request, typeOfFile(request), body)
}

/** Collects a file with the rights of its owner: links only lead to what the owner can read anyway. */
const collectAs = async (
  store: ArtifactStore,
  request: CollectRequest,
  owner: FileUser,
): Promise<Collected> =>
  await keep(
    store,
    request,
    typeOfFile(request),
    Readable.from(readAs(request.path, owner, request.maxBytes)),
  )

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
