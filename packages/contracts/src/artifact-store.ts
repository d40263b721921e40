import type { FileHandle } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import type { ArtifactType, ContentType } from './enums.ts'
import type { Owner } from './runs/runner.ts'

export interface StoredObject {
  readonly size: number
  /** In hex. */
  readonly sha256: string
}

export interface ByteRange {
  readonly start: number
  /** Inclusive. */
  readonly end: number
}

/**
 * Stores bytes by key, for all masters and workers. Keys are `/`-separated parts of `[A-Za-z0-9._-]`. Objects are
 * immutable; a second put of a key replaces the object as a whole or not at all.
 */
export interface ArtifactStore extends AsyncDisposable {
  readonly kind: 'folder' | 's3'
  put(key: string, body: Readable): Promise<StoredObject>
  /** `undefined` if the key does not exist. `size` is that of the whole object. */
  get(key: string, range?: ByteRange): Promise<{ size: number; body: Readable } | undefined>
  size(key: string): Promise<number | undefined>
  remove(key: string): Promise<void>
  /** At most `limit` keys directly in a folder (`uploads`) whose objects are older than `before`, in any order. */
  oldKeys(folder: string, before: Date, limit: number): Promise<string[]>
  /** All keys below a folder with the time of their put, in any order; read lazily. */
  list(folder: string): AsyncIterable<{ readonly key: string; readonly modified: Date }>
  /** Rejects with a message for the operator if the store is not writable. */
  check(): Promise<void>
}

/** Uploads are kept in the artifact store, so that all masters and workers can read them. */
export const UPLOADS = 'uploads'
const UPLOAD_PATH = /^uploads\/[0-9a-f]{16}-[A-Za-z0-9._-]{1,100}$/

/** The artifact store key of an upload, if the path of a `target_file` or target refers to one. */
export const uploadKeyOf = (path: string): string | undefined => (UPLOAD_PATH.test(path) ? path : undefined)

export interface CollectRequest {
  /** Absolute path of a regular file or of a folder. A folder is stored as one tar. */
  readonly path: string
  /** Absolute folders of the run. Files that are elsewhere after links are resolved are refused. */
  readonly roots: readonly string[]
  /** The key of the object is this prefix, `/` and a safe form of the file name. */
  readonly keyPrefix: string
  /** Given by the workflow; if missing, derived from the extension. */
  readonly contentType?: ContentType
  readonly maxBytes: number
  /** Masks secrets without changing the number of bytes; if missing, nothing is masked. */
  readonly mask?: (bytes: AsyncIterable<Buffer>) => AsyncIterable<Buffer>
  /** The user of commands, whose rights are used for files that this process cannot read. */
  readonly owner?: Owner
}

export type Collected =
  | {
      readonly kind: 'stored'
      readonly storeKey: string
      readonly contentType: ContentType
      /** The type if none is given: an image below a `screenshots` folder, or plain output. */
      readonly likelyType: Extract<ArtifactType, 'screenshot' | 'output'>
      readonly sizeBytes: number
      /** Lines of a text, including a last line without line break; 0 for other contents. */
      readonly lineCount: number
      /** In hex. */
      readonly sha256: string
    }
  /** The run may not store this file. */
  | { readonly kind: 'refused'; readonly reason: string }

/** Copies a file into the store, without bytes appended meanwhile. Rejects only if the store fails. */
export type CollectArtifact = (store: ArtifactStore, request: CollectRequest) => Promise<Collected>

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
