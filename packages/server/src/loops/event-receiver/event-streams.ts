import { Readable } from 'node:stream'
import { AppError } from '@scanfarm/contracts'
import type { FeedEntry, FeedFilter, FeedPosition, Store } from '@scanfarm/store'
import type { Wake } from '../../wake.ts'

/** Clients that listen at the same time. */
const MAX_STREAMS = 100
/** Entries read in one go. */
const PAGE = 200
/** The database is asked this often by each stream; a wake-up call hastens it. */
const POLL_MS = 500
/** A sign of life for proxies, with the place that was reached. */
const PING_MS = 15_000
/** What a client waits before it connects again. */
const RETRY_MS = 2_000

/** The event log as server-sent events, from a place on and without gaps. */
export class EventStreams implements Disposable {
  readonly #feed: Store['feed']
  readonly #wake: Wake
  readonly #open = new Set<Readable>()
  readonly #ending = new AbortController()
  /** Streams that are open or are being opened. */
  #count = 0

  constructor(feed: Store['feed'], wake: Wake) {
    this.#feed = feed
    this.#wake = wake
  }

  /**
   * `after` undefined: what comes from now on. Refuses when too many are listening. The signal says that the client has
   * gone: a stream that is destroyed would wait for its next frame.
   */
  async open(after: FeedPosition | undefined, filter: FeedFilter, gone: AbortSignal): Promise<Readable> {
    if (this.#count >= MAX_STREAMS)
      throw new AppError('unavailable', `${MAX_STREAMS} clients listen already; try again later`, {
        retryAfter: 30,
      })
    this.#count += 1
    try {
      const start = after ?? (await this.#feed.end())
      return this.#openAt(start, filter, AbortSignal.any([gone, this.#ending.signal]))
    } catch (error) {
      this.#count -= 1
      throw error
    }
  }

  #openAt(start: FeedPosition, filter: FeedFilter, closed: AbortSignal): Readable {
    const stream = Readable.from(this.#frames(start, filter, closed), { objectMode: false })
    this.#open.add(stream)
    stream.once('close', () => {
      this.#open.delete(stream)
      this.#count -= 1
    })
    return stream
  }

  async *#frames(start: FeedPosition, filter: FeedFilter, closed: AbortSignal): AsyncGenerator<string> {
    yield `retry: ${RETRY_MS}\n\n`
    let after = start
    let spokenAt = performance.now()
    while (!closed.aborted) {
      const { entries, next } = await this.#feed.read({ after, limit: PAGE, filter })
      after = next
      if (entries.length > 0) yield entries.map(frameOf).join('')
      else if (performance.now() - spokenAt > PING_MS) yield `id: ${after}\n: ping\n\n`
      if (entries.length > 0 || performance.now() - spokenAt > PING_MS) spokenAt = performance.now()
      if (entries.length < PAGE && !closed.aborted) await this.#wake.next(POLL_MS)
    }
  }

  /** Ends every stream; clients connect again, to another master, and miss nothing. */
  [Symbol.dispose](): void {
    this.#ending.abort()
    for (const stream of this.#open) stream.destroy()
  }
}

/** JSON has no line breaks of its own, so an entry is one line of data. */
const frameOf = ({ position, ...entry }: FeedEntry): string =>
  `id: ${position}\ndata: ${JSON.stringify(entry)}\n\n`
