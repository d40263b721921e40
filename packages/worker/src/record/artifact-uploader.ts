import {
  RUN_LOG_NAME,
  type ArtifactFound,
  type ArtifactStore,
  type CollectArtifact,
  type RunStore,
  type StepOpened,
  type StoredObject,
  type Owner,
} from '@scanfarm/contracts'
import type { Mask } from '@scanfarm/engine'
import type { ExecutorLimits, ExecutorTimes } from '../slots/limits.ts'
import type { RunLog, StepLog } from './logs.ts'
import { clipped, type AttemptIds } from './row-values.ts'
import { UploadQueue } from './upload-queue.ts'
import type { WriteBuffer } from './write-buffer.ts'

/** Where artifacts of an attempt come from and go to. */
export interface ArtifactSource {
  readonly run: { readonly runUuid: string; readonly attempt: number }
  readonly artifacts: ArtifactStore
  readonly collect: CollectArtifact
  /** Folders of the run that artifacts may come from. */
  readonly roots: readonly string[]
  readonly limits: ExecutorLimits
  readonly times: ExecutorTimes
  /** Removes secrets from artifacts. */
  readonly mask?: Mask
  /** Aborts when the run is being stopped. */
  readonly signal: AbortSignal
  /** Whom commands run as, once that is decided. */
  owner?(): Owner | undefined
}

export interface ArtifactUploaderOptions extends ArtifactSource {
  readonly ids: AttemptIds
  readonly buffer: WriteBuffer
  /** Writes a line to the log of the run. */
  warn(line: string): void
}

/** Keys in one query. */
const QUERY_KEYS = 500

/** Uploads artifacts and logs of an attempt to the artifact store and adds the rows of artifacts to the write buffer. */
export class ArtifactUploader {
  readonly #options: ArtifactUploaderOptions
  readonly #queue: UploadQueue
  readonly #keys = new Set<string>()
  /** The first key of each content: tools often print what they also write to a file. */
  readonly #keyOfContent = new Map<string, string>()
  #count = 0

  constructor(options: ArtifactUploaderOptions) {
    this.#options = options
    const { signal, times } = options
    const backoff = { firstMs: times.retryFirstMs, mostMs: times.retryMostMs }
    this.#queue = new UploadQueue({ backoff, limitMs: times.artifactRetryMs, signal })
  }

  add(found: ArtifactFound): void {
    this.#count += 1
    const number = this.#count
    const { limits, warn } = this.#options
    if (number <= limits.artifacts) {
      this.#queue.add(`artifact ${found.name}`, () => this.#upload(found, number))
      return
    }
    if (number === limits.artifacts + 1)
      warn(`a run has at most ${limits.artifacts} artifacts; all further ones are left out`)
  }

  /** Returns the key that the log will have. `onStored` is called when it has it. */
  addStepLog(step: StepOpened, log: StepLog, onStored: () => Promise<void>): string {
    const { artifacts, ids } = this.#options
    const key = `${ids.storePrefix}/logs/${step.seq}.log`
    this.#queue.add(`the log of step ${step.name}`, async () => {
      await log.end()
      this.#stored(key, await log.store(artifacts, key))
      await onStored()
    })
    return key
  }

  addRunLog(runLog: RunLog): void {
    this.#queue.add(RUN_LOG_NAME, () => this.#uploadRunLog(runLog))
  }

  /** Resolves when all uploads are done, to the first problem or `""`. */
  settled(): Promise<string> {
    return this.#queue.settled()
  }

  /** Drops uploads that have not begun and waits for the others. */
  async close(): Promise<void> {
    this.#queue.close()
    await this.#queue.settled()
  }

  /**
   * Removes the uploads of a finished attempt whose rows were refused or never written. Rejects when the store or the
   * database does; masters remove what is left later.
   */
  async discard(store: Pick<RunStore, 'strayKeys'>): Promise<void> {
    const { run, artifacts } = this.#options
    const { runUuid, attempt } = run
    const keys = [...this.#keys].map((key) => ({ runUuid, attempt, key }))
    for (let from = 0; from < keys.length; from += QUERY_KEYS)
      // A write whose answer was lost may have made its rows.
      for (const key of await store.strayKeys(keys.slice(from, from + QUERY_KEYS)))
        await artifacts.remove(key)
  }

  async #uploadRunLog(runLog: RunLog): Promise<void> {
    const { artifacts, ids, buffer } = this.#options
    const storeKey = `${ids.storePrefix}/${RUN_LOG_NAME}`
    const stored = await artifacts.put(storeKey, runLog.stream())
    this.#stored(storeKey, stored)
    buffer.add('artifacts', {
      id: ids.uuid('artifact', RUN_LOG_NAME),
      name: 'execution log',
      path: RUN_LOG_NAME,
      type: 'state_file',
      contentType: 'log',
      sizeBytes: stored.size,
      lineCount: runLog.lineCount,
      description: 'What the workflow and the engine logged',
      storeKey,
      sha256: stored.sha256,
    })
  }

  async #upload(found: ArtifactFound, number: number): Promise<void> {
    const { artifacts, collect, roots, ids, limits, buffer, mask, owner, warn } = this.#options
    const id = ids.uuid('artifact', number)
    const kept = await collect(artifacts, {
      path: found.path,
      roots,
      keyPrefix: `${ids.storePrefix}/artifacts/${id}`,
      contentType: found.contentType,
      maxBytes: limits.artifactBytes,
      owner: owner?.(),
      ...(mask?.isEmpty === false && { mask: (bytes: AsyncIterable<Buffer>) => mask.stream(bytes) }),
    })
    if (kept.kind === 'refused') {
      warn(`artifact ${found.name} (${found.path}) is left out: ${kept.reason}`)
      return
    }
    const storeKey = this.#stored(kept.storeKey, { size: kept.sizeBytes, sha256: kept.sha256 })
    if (storeKey !== kept.storeKey) await artifacts.remove(kept.storeKey)
    buffer.add('artifacts', {
      id,
      name: clipped(found.name, limits.nameChars),
      path: clipped(mask?.text(found.path) ?? found.path, limits.pathChars),
      // A workflow that registers plain output may not know that it is a screenshot.
      type: found.type === 'output' ? kept.likelyType : found.type,
      contentType: kept.contentType,
      sizeBytes: kept.sizeBytes,
      lineCount: kept.lineCount,
      description: clipped(found.description, limits.pathChars),
      storeKey,
      sha256: kept.sha256,
    })
  }

  /** Notes an upload; returns the first key of this attempt with the same bytes. */
  #stored(key: string, { size, sha256 }: StoredObject): string {
    this.#keys.add(key)
    const content = `${size} ${sha256}`
    const first = this.#keyOfContent.get(content) ?? key
    this.#keyOfContent.set(content, first)
    return first
  }
}
