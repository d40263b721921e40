import { Readable } from 'node:stream'
import { AppError } from '@scanfarm/contracts'
import type { FeedFilter, FeedPosition, Store } from '@scanfarm/store'
import type { Wake } from '../../wake.ts'
import { EventWindow, frameOf, WINDOW_BYTES } from './event-window.ts'

/** Streams at the same time, of all callers and of one. */
const MAX_STREAMS = 100
const MAX_OF_CALLER = 10
const RETRY_SECONDS = 30
/** What a stream that is behind the window reads in one go. */
const PAGE = 200
const PAGE_BYTES = 128 * 1024
/** How long a stream without news waits at most until it looks whether it has been closed. */
const LOOK_MS = 500
/** A sign of life for proxies, with the place that was reached. */
const PING_MS = 15_000
/** What a client waits before it connects again. */
const RETRY_MS = 2_000
/** A stream that was up to date and has been behind the window for so long is ended. */
const BEHIND_MS = 30_000

/**
 * The event log as server-sent events, from a place on and without gaps. A stream holds no more than what its reader is
 * taking at the moment: it fetches each frame when the one before is on its way.
 */
export class EventStreams implements Disposable {
  readonly #feed: Store['feed']
  readonly #window: EventWindow
  readonly #behindMs: number
  readonly #open = new Set<Readable>()
  readonly #ending = new AbortController()
  /** Streams by caller that are open or are being opened. */
  readonly #counts = new Map<string, number>()

  constructor(feed: Store['feed'], wake: Wake, behindMs = BEHIND_MS) {
    this.#feed = feed
    this.#window = new EventWindow(feed, wake)
    this.#behindMs = behindMs
  }

  /**
   * `after` undefined: what comes from now on. Refuses when too many are listening. The signal says that the client has
   * gone: a stream that is destroyed would wait for its next frame.
   */
  async open(
    caller: string,
    after: FeedPosition | undefined,
    filter: FeedFilter,
    gone: AbortSignal,
  ): Promise<Readable> {
    const leave = this.#enter(caller)
    try {
      const start = after ?? (await this.#feed.end())
      const closed = AbortSignal.any([gone, this.#ending.signal])
      const stream = Readable.from(this.#frames(start, filter, closed), { objectMode: false })
      this.#open.add(stream)
      stream.once('close', () => {
        this.#open.delete(stream)
        leave()
      })
      return stream
    } catch (error) {
      leave()
      throw error
    }
  }

  #enter(caller: string): () => void {
    const own = this.#counts.get(caller) ?? 0
    if (own >= MAX_OF_CALLER)
      throw new AppError(
        'too_many_requests',
        `this caller has ${MAX_OF_CALLER} event streams open already: close one, or read several topics by one stream`,
        { retryAfter: RETRY_SECONDS },
      )
    const all = this.#counts.values().reduce((sum, count) => sum + count, 0)
    if (all >= MAX_STREAMS)
      throw new AppError('unavailable', `${MAX_STREAMS} event streams are open already; try again later`, {
        retryAfter: RETRY_SECONDS,
      })
    this.#counts.set(caller, own + 1)
    return () => {
      const left = (this.#counts.get(caller) ?? 1) - 1
      if (left > 0) this.#counts.set(caller, left)
      else this.#counts.delete(caller)
    }
  }

  async *#frames(
    start: FeedPosition,
    filter: FeedFilter,
    closed: AbortSignal,
  ): AsyncGenerator<string | Buffer> {
    using _reading = this.#window.join()
    yield `retry: ${RETRY_MS}\n\n`
    let after = start
    let sentAt = performance.now()
    // Undefined while it catches up with the past: that may take any time.
    let upToDateAt: number | undefined
    while (!closed.aborted) {
      const next = this.#window.next(after, filter)
      if (next === 'gone') {
        if (upToDateAt !== undefined && performance.now() - upToDateAt > this.#behindMs) {
          yield cutFrame(after)
          return
        }
        const page = await this.#feed.read({ after, limit: PAGE, maxBytes: PAGE_BYTES, filter })
        if (!page.more) upToDateAt = performance.now()
        for (const entry of page.entries) yield frameOf(entry).bytes
        after = page.next
        if (page.entries.length > 0) sentAt = performance.now()
        // The window has not read its first page yet.
        else if (!page.more) await this.#window.news.next(LOOK_MS)
      } else if ('upToDate' in next) {
        after = next.upToDate
        upToDateAt = performance.now()
        if (upToDateAt - sentAt > PING_MS) {
          yield `id: ${after}\n: ping\n\n`
          sentAt = performance.now()
        }
        await this.#window.news.next(LOOK_MS)
      } else {
        after = next.position
        yield next.bytes
        sentAt = performance.now()
      }
    }
  }

  /** Ends every stream; clients connect again, to another master, and miss nothing. */
  [Symbol.dispose](): void {
    this.#ending.abort()
    for (const stream of this.#open) stream.destroy()
  }
}

/** The last frame of a stream whose reader is too slow. */
const cutFrame = (position: FeedPosition): string =>
  `id: ${position}\nevent: cut\ndata: ${JSON.stringify({
    message: `the reader is more than ${WINDOW_BYTES} bytes behind: connect again with Last-Event-ID`,
    last_event_id: position,
  })}\n\n`
