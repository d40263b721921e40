import { errorText } from '@scanfarm/platform'
import { randomUUID } from 'node:crypto'
import { chmod, mkdir, open, opendir, rename, rm, rmdir, stat, unlink } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ArtifactStore, ByteRange, StoredObject } from '@scanfarm/contracts'
import { checkKey, isKey } from './key.ts'
import { createMeter } from './meter.ts'

export interface FolderOptions {
  /**
   * Shared by every master and worker, for example a network file system. If missing, it is created for its owner only.
   * With the setgid bit it is shared with its group, for masters and workers of different users.
   */
  readonly folder: string
  /** Flush to disk before `put` resolves. Default true. */
  readonly fsync?: boolean
}

const PUBLISH_ATTEMPTS = 5
const SETGID = 0o2000
const SHARED = 0o2770
const CHUNK_BYTES = 256 * 1024
const OWNER_ONLY = 0o600
const GROUP_READS = 0o640

/** Files in a folder. Objects are published by a rename, so readers never see partial ones. */
export function openFolderStore(options: FolderOptions): ArtifactStore {
  const root = resolve(options.folder)
  // Keys never contain "~", so no object has this path.
  const incoming = join(root, '~incoming')
  const pathOf = (key: string): string => {
    checkKey(key)
    return join(root, key)
  }
  const put = async (key: string, body: Readable): Promise<StoredObject> => {
    const path = pathOf(key)
    const temporary = join(incoming, randomUUID())
    const meter = createMeter()
    try {
      const shared = await isShared(root)
      await makeFolder(incoming, shared)
      // Open already: a stream that fails while it opens its file creates it after it was removed.
      const file = await open(temporary, 'wx', shared ? GROUP_READS : OWNER_ONLY)
      await pipeline(
        body,
        (source: AsyncIterable<Buffer>) => meter.through(source),
        file.createWriteStream({ flush: options.fsync ?? true, highWaterMark: CHUNK_BYTES }),
      )
      await publish(temporary, path, shared)
    } catch (error) {
      body.destroy()
      await rm(temporary, { force: true })
      throw error
    }
    return meter.result()
  }
  const store: ArtifactStore = {
    kind: 'folder',
    put,
    get: async (key, range) => read(pathOf(key), range),
    size: async (key) => sizeOf(pathOf(key)),
    async remove(key) {
      await removeFile(pathOf(key), root)
    },
    list: (folder) => filesBelow(folder, pathOf(folder)),
    oldKeys: (folder, before, limit) => oldFiles(folder, pathOf(folder), before, limit),
    async check() {
      const key = `check/${randomUUID()}`
      try {
        await put(key, Readable.from([Buffer.from('ok')]))
        await store.remove(key)
      } catch (error) {
        throw new Error(
          `the artifact folder ${root} cannot be written (${errorText(error)}): create it, or make it writable for the user of this process`,
          { cause: error },
        )
      }
    },
    async [Symbol.asyncDispose]() {},
  }
  return store
}

const codeOf = (error: unknown): string => (Error.isError(error) && 'code' in error ? String(error.code) : '')

const isShared = async (root: string): Promise<boolean> =>
  await stat(root).then(
    ({ mode }) => (mode & SETGID) !== 0,
    () => false,
  )

/** Creates parent folders too. They inherit the group, but not its permissions. */
const makeFolder = async (path: string, shared: boolean): Promise<void> => {
  const first = await mkdir(path, { recursive: true, mode: 0o700 })
  if (!shared || first === undefined) return
  for (let at = path; at.length >= first.length; at = dirname(at)) await chmod(at, SHARED)
}

/** Retries, since the folder is deleted with its last object, possibly between `mkdir` and `rename`. */
const publish = async (temporary: string, path: string, shared: boolean): Promise<void> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await rename(temporary, path)
      return
    } catch (error) {
      if (codeOf(error) !== 'ENOENT' || attempt === PUBLISH_ATTEMPTS) throw error
      await makeFolder(dirname(path), shared)
    }
  }
}

const isMissing = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(codeOf(error))

const read = async (
  path: string,
  range: ByteRange | undefined,
): Promise<{ size: number; body: Readable } | undefined> => {
  const file = await open(path, 'r').catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw error
  })
  if (file === undefined) return undefined
  const found = await file.stat()
  const start = range?.start ?? 0
  const end = Math.min(range?.end ?? Infinity, found.size - 1)
  if (!found.isFile() || start > end) {
    await file.close()
    return found.isFile() ? { size: found.size, body: Readable.from([]) } : undefined
  }
  return { size: found.size, body: file.createReadStream({ start, end, highWaterMark: CHUNK_BYTES }) }
}

const oldFiles = async (folder: string, path: string, before: Date, limit: number): Promise<string[]> => {
  const keys: string[] = []
  try {
    for await (const entry of await opendir(path)) {
      if (keys.length >= limit) break
      const key = `${folder}/${entry.name}`
      if (entry.isFile() && isKey(key) && (await stat(join(path, entry.name))).mtime < before) keys.push(key)
    }
  } catch (error) {
    // The folder does not exist, or another process deletes the same files.
    if (!isMissing(error)) throw error
  }
  return keys
}

async function* filesBelow(folder: string, path: string): AsyncGenerator<{ key: string; modified: Date }> {
  // Another process may delete the folder meanwhile.
  const entries = await opendir(path).catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw error
  })
  if (entries === undefined) return
  for await (const entry of entries) {
    const [key, at] = [`${folder}/${entry.name}`, join(path, entry.name)]
    if (entry.isDirectory()) yield* filesBelow(key, at)
    else if (entry.isFile() && isKey(key)) {
      const found = await stat(at).catch(() => undefined)
      if (found !== undefined) yield { key, modified: found.mtime }
    }
  }
}

const sizeOf = async (path: string): Promise<number | undefined> => {
  try {
    const found = await stat(path)
    return found.isFile() ? found.size : undefined
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

const removeFile = async (path: string, root: string): Promise<void> => {
  try {
    await unlink(path)
  } catch (error) {
    if (isMissing(error)) return
    throw error
  }
  for (let folder = dirname(path); folder !== root; folder = dirname(folder)) {
    const removed = await rmdir(folder).then(
      () => true,
      () => false,
    )
    if (!removed) return
  }
}
