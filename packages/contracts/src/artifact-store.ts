import type { Readable } from 'node:stream'
import type { ArtifactType, ContentType } from './words.ts'

export interface StoredObject {
  /** Bytes. */
  readonly size: number
  /** Hex. */
  readonly sha256: string
}

export interface ByteRange {
  readonly start: number
  /** Inclusive. */
  readonly end: number
}

/**
 * Bytes by key, reachable from every master and worker. Keys are `/`-separated, `[A-Za-z0-9._-]` in each part. What
 * was put under a key never changes; a second put of the same key replaces it as a whole or not at all.
 */
export interface ArtifactStore extends AsyncDisposable {
  readonly kind: 'folder' | 's3'
  put(key: string, body: Readable): Promise<StoredObject>
  /** `undefined` when there is no such key. `size` is that of the whole object. */
  get(key: string, range?: ByteRange): Promise<{ size: number; body: Readable } | undefined>
  size(key: string): Promise<number | undefined>
  remove(key: string): Promise<void>
  /** Keys directly in a folder (`uploads`) whose objects were put before then, at most `limit`, in any order. */
  oldKeys(folder: string, before: Date, limit: number): Promise<string[]>
  /** All keys below a folder, in any order, with the time of their put; read as far as the caller goes. */
  list(folder: string): AsyncIterable<{ readonly key: string; readonly modified: Date }>
  /** Rejects with a message for the operator when the store cannot be written. */
  check(): Promise<void>
}

export interface CollectRequest {
  /** Absolute; a regular file, or a folder, which is kept as one tar. */
  readonly path: string
  /** Folders of the run, absolute; anything that really lies elsewhere is refused. */
  readonly roots: readonly string[]
  /** The object's key is this, `/` and the file's name in a safe form. */
  readonly keyPrefix: string
  /** Given by the workflow; missing: by extension. */
  readonly contentType?: ContentType
  readonly maxBytes: number
  /** Hides secrets in the bytes, as many as before; missing: they are kept as they are. */
  readonly mask?: (bytes: AsyncIterable<Buffer>) => AsyncIterable<Buffer>
  /** Whom commands run as: reads what they closed to this process. */
  readonly owner?: { readonly uid: number; readonly gid: number }
}

export type Collected =
  | {
      readonly kind: 'stored'
      readonly storeKey: string
      readonly contentType: ContentType
      /** What it is when nobody says: an image under a `screenshots` folder, or plain output. */
      readonly likelyType: Extract<ArtifactType, 'screenshot' | 'output'>
      readonly sizeBytes: number
      /** Of text; a last line without line break counts. 0 for anything else. */
      readonly lineCount: number
      /** Hex. */
      readonly sha256: string
    }
  /** It is no file that a run may hand in. */
  | { readonly kind: 'refused'; readonly reason: string }

/**
 * Copies a file that commands have made into the store. The file as it is now counts: bytes that are appended while
 * it is copied are left out. Rejects only when the store does.
 */
export type CollectArtifact = (store: ArtifactStore, request: CollectRequest) => Promise<Collected>
