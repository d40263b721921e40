import type { ArtifactFound, ArtifactStore, CollectArtifact, StoredObject } from '@scanfarm/contracts'
import type { Mask } from '@scanfarm/workflow'
import type { Owner } from '../folders.ts'
import type { ExecutorLimits } from '../limits.ts'
import type { Changes } from './changes.ts'
import type { Filing } from './filing.ts'
import type { Identity } from './identity.ts'
import type { RunLog } from './run-log.ts'
import { clipped } from './storable.ts'

/** Where artifacts of an attempt come from and go to. */
export interface ArtifactSource {
  readonly identity: Identity
  readonly artifacts: ArtifactStore
  readonly collect: CollectArtifact
  /** Folders of the run that artifacts may come from. */
  readonly roots: readonly string[]
  readonly limits: ExecutorLimits
  /** What artifacts must not have in them. */
  readonly mask?: Mask
  /** Whom commands work as, once that is decided. */
  owner?(): Owner | undefined
}

export interface ArtifactDeskOptions extends ArtifactSource {
  readonly changes: Changes
  readonly filing: Filing
  /** Bytes are in the artifact store under this key; the answer is where the attempt had put the same bytes first. */
  stored(key: string, object: StoredObject): string
  /** A line for the run's own log. */
  warn(line: string): void
}

const RUN_LOG_NAME = 'run-execution.log'

/** Takes in what a run hands over: its bytes go to the artifact store, its row to the changes. */
export class ArtifactDesk {
  readonly #options: ArtifactDeskOptions
  #count = 0

  constructor(options: ArtifactDeskOptions) {
    this.#options = options
  }

  add(found: ArtifactFound): void {
    this.#count += 1
    const number = this.#count
    const { limits, filing, warn } = this.#options
    if (number <= limits.artifacts) {
      filing.add(`artifact ${found.name}`, () => this.#collect(found, number))
      return
    }
    if (number === limits.artifacts + 1)
      warn(`a run has at most ${limits.artifacts} artifacts; all further ones are left out`)
  }

  addRunLog(runLog: RunLog): void {
    this.#options.filing.add(RUN_LOG_NAME, () => this.#fileRunLog(runLog))
  }

  async #fileRunLog(runLog: RunLog): Promise<void> {
    const { artifacts, identity, changes } = this.#options
    const storeKey = `${identity.storePrefix}/${RUN_LOG_NAME}`
    const stored = await artifacts.put(storeKey, runLog.stream())
    this.#options.stored(storeKey, stored)
    changes.artifact({
      id: identity.uuid('artifact', RUN_LOG_NAME),
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

  async #collect(found: ArtifactFound, number: number): Promise<void> {
    const { artifacts, collect, roots, identity, limits, changes, mask, warn } = this.#options
    const id = identity.uuid('artifact', number)
    const kept = await collect(artifacts, {
      path: found.path,
      roots,
      keyPrefix: `${identity.storePrefix}/artifacts/${id}`,
      contentType: found.contentType,
      maxBytes: limits.artifactBytes,
      owner: this.#options.owner?.(),
      ...(mask?.isEmpty === false && { mask: (bytes: AsyncIterable<Buffer>) => mask.stream(bytes) }),
    })
    if (kept.kind === 'refused') {
      warn(`artifact ${found.name} (${found.path}) is left out: ${kept.reason}`)
      return
    }
    const storeKey = this.#options.stored(kept.storeKey, { size: kept.sizeBytes, sha256: kept.sha256 })
    if (storeKey !== kept.storeKey) await artifacts.remove(kept.storeKey)
    changes.artifact({
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
}
