import type { FileHandle } from 'node:fs/promises'
import type { Readable } from 'node:stream'

export interface NamedObject {
  readonly key: string
  readonly size: number
  /** ISO 8601. */
  readonly modified: string
}

/** Objects that workflows name themselves, in a separate bucket. They are not artifacts of a run. */
export interface ObjectStorage {
  /** Uploads an open file, from its start to its present end. */
  upload(file: FileHandle, key: string, signal: AbortSignal): Promise<void>
  /** Calls `write` with the content; it must read all of it or reject. Rejects for a missing object. */
  download(key: string, write: (content: Readable) => Promise<void>, signal: AbortSignal): Promise<void>
  /** Resolves for a missing object too. */
  remove(key: string): Promise<void>
  stat(key: string): Promise<NamedObject | undefined>
  /** In the order of their keys. */
  list(prefix: string, limit: number): Promise<NamedObject[]>
  /** A URL that allows to read the object for some minutes. */
  presign(key: string, minutes: number): Promise<string>
}
