import { Readable } from 'node:stream'
import type { ArtifactStore, LogName } from '@scanfarm/contracts'
import { backoffMs, LIVE_BLOCK_BYTES, liveBlockKey } from '@scanfarm/contracts'
import { errorText, pause } from '@scanfarm/platform'
import type { GrowingLog } from './logs.ts'

/** Time from one look for new output to the next, unless an upload takes longer. */
const EVERY_MS = 250
/** The same after an upload that failed; it doubles with each further one. */
const LONGEST_PAUSE_MS = 10_000
/** Blocks of one log in one turn: at most 4 MiB a second. */
const BLOCKS_PER_TURN = 8
/** How long a run counts as followed after the database has said so. */
const FOLLOWED_MS = 20_000
/** Logs that are uploaded at the same time, and blocks that are removed: the store may be far away. */
const AT_ONCE = 8

export interface LiveLogsOptions {
  readonly artifacts: Pick<ArtifactStore, 'put' | 'remove'>
  /** Prefix of the keys of the attempt. */
  readonly prefix: string
  /** The logs that may grow now. */
  growing(): Iterable<readonly [LogName, GrowingLog]>
  onFailure(reason: string): void
}

interface Copy {
  readonly source: GrowingLog
  /** Bytes of the source that are in the store. */
  stored: number
  /** The source grows no more. */
  closed: boolean
}

/** Copies the logs of an attempt to the artifact store while somebody follows them. Does nothing before that. */
export class LiveLogs implements AsyncDisposable {
  readonly #options: LiveLogsOptions
  readonly #copies = new Map<LogName, Copy>()
  readonly #keys = new Map<LogName, Set<string>>()
  /** Exists from the first time that somebody follows the run. Most runs have no followers. */
  #end: AbortController | undefined
  #isOver = false
  #until = -Infinity
  #running: Promise<void> | undefined

  constructor(options: LiveLogsOptions) {
    this.#options = options
  }

  /** The database has said whether somebody follows the run. */
  follow(followed: boolean): void {
    this.#until = followed ? performance.now() + FOLLOWED_MS : -Infinity
    if (followed && !this.#isOver) this.#running ??= this.#run().finally(() => (this.#running = undefined))
  }

  /** Some of this log may have been read. */
  has(log: LogName): boolean {
    return this.#copies.has(log)
  }

  /** The log is complete; the rest of it is copied in the next turn. */
  close(log: LogName): void {
    const copy = this.#copies.get(log)
    if (copy !== undefined) copy.closed = true
  }

  /** Removes the copy of a log that is stored elsewhere now. */
  async remove(log: LogName): Promise<void> {
    this.#copies.delete(log)
    const keys = this.#keysOf(log)
    const all = [...keys]
    for (let from = 0; from < all.length; from += AT_ONCE)
      await Promise.all(
        all.slice(from, from + AT_ONCE).map(async (key) => {
          // An upload that ends meanwhile adds its key again.
          keys.delete(key)
          try {
            await this.#options.artifacts.remove(key)
          } catch (error) {
            keys.add(key)
            throw error
          }
        }),
      )
  }

  async removeAll(): Promise<void> {
    for (const log of this.#keys.keys()) await this.remove(log)
  }

  /** Ends the copying, but removes nothing. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true
    this.#end?.abort('ended')
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = (this.#end ??= new AbortController())
    for (let failures = 0; !signal.aborted && performance.now() < this.#until;) {
      const began = performance.now()
      try {
        await this.#turn()
        failures = 0
      } catch (error) {
        if (failures === 0) this.#options.onFailure(errorText(error))
        failures += 1
      }
      const next = began + backoffMs(failures + 1, { firstMs: EVERY_MS, mostMs: LONGEST_PAUSE_MS })
      await pause(Math.max(0, next - performance.now()), signal)
    }
  }

  async #turn(): Promise<void> {
    for (const [log, source] of this.#options.growing())
      if (source.length > 0 && !this.#copies.has(log))
        this.#copies.set(log, { source, stored: 0, closed: false })
    const waiting = this.#copies.entries()
    const copying = Array.from({ length: AT_ONCE }, async () => {
      for (const [log, copy] of waiting)
        if (!(await this.#copyNew(log, copy)) && copy.closed) this.#copies.delete(log)
    })
    // All end before the next turn: a late upload would replace a longer block.
    const failed = (await Promise.allSettled(copying)).find(({ status }) => status === 'rejected')
    if (failed?.status === 'rejected') throw failed.reason
  }

  /** Returns whether the log had new bytes. */
  async #copyNew(log: LogName, copy: Copy): Promise<boolean> {
    const { artifacts, prefix } = this.#options
    const before = copy.stored
    // What arrives during an upload waits for the next turn: uploads are counted and paid for.
    const { length } = copy.source
    for (let count = 0; count < BLOCKS_PER_TURN && copy.stored < length; count += 1) {
      if (this.#isOver || this.#copies.get(log) !== copy) break
      const start = copy.stored - (copy.stored % LIVE_BLOCK_BYTES)
      const bytes = await copy.source.read(start, Math.min(start + LIVE_BLOCK_BYTES, copy.source.length))
      const key = liveBlockKey(prefix, log, start)
      this.#keysOf(log).add(key)
      await artifacts.put(key, Readable.from([bytes]))
      // The copy may have been removed meanwhile.
      this.#keysOf(log).add(key)
      copy.stored = start + bytes.length
    }
    return copy.stored > before
  }

  #keysOf(log: LogName): Set<string> {
    const keys = this.#keys.get(log) ?? new Set()
    this.#keys.set(log, keys)
    return keys
  }
}
