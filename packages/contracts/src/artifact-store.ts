import type { Readable } from 'node:stream'

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
  /** Rejects with a message for the operator when the store cannot be written. */
  check(): Promise<void>
}
