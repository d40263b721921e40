import { Readable } from 'node:stream'
import type { FeedFilter, FeedPosition, Store } from '@scanfarm/store'
import { StreamLimits } from '../../http/stream-limits.ts'
import type { Notifier } from '../../notifier.ts'
import { EventWindow, frameOf, WINDOW_BYTES } from './event-window.ts'

/** Concurrent streams in total and for each caller. */
const MAX_STREAMS = 100
const MAX_OF_CALLER = 10
/** Page size of a stream that is behind the window. */
const PAGE = 200
const PAGE_BYTES = 128 * 1024
/** Maximum wait of an idle stream before it checks whether it was closed. */
const LOOK_MS = 500
/** Interval of keep-alive comments, which carry the current position. */
const PING_MS = 15_000
/** Delay before a client reconnects. */
const RETRY_MS = 2_000
/** A stream that was up to date is ended after it has been behind the window for this long. */
const BEHIND_MS = 30_000

/**
 * The event log as server-sent events, from a position and without gaps. A stream buffers only what its reader is
 * currently receiving: it fetches the next frame after the previous one was sent.
 */
export class EventStreams implements Disposable {
  readonly #feed: Store['feed']
  readonly #window: EventWindow
  readonly #behindMs: number
  readonly #open = new Set<Readable>()
  readonly #ending = new AbortController()
  readonly #limits = new StreamLimits({
    what: 'event streams',
    ofCaller: MAX_OF_CALLER,
    total: MAX_STREAMS,
    advice: 'close one, or read several topics in one stream',
  })

  constructor(feed: Store['feed'], notifier: Notifier, behindMs = BEHIND_MS) {
    this.#feed = feed
    this.#window = new EventWindow(feed, notifier)
    this.#behindMs = behindMs
  }

  /**
   * `after` undefined: from now on. Throws if there are too many streams. `gone` aborts when the client disconnects,
   * because a destroyed stream would still wait for its next frame.
   */
  async open(
    caller: string,
    after: FeedPosition | undefined,
    filter: FeedFilter,
    gone: AbortSignal,
  ): Promise<Readable> {
    const leave = this.#limits.enter(caller)
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

  async *#frames(
    start: FeedPosition,
    filter: FeedFilter,
    closed: AbortSignal,
  ): AsyncGenerator<string | Buffer> {
    using _reading = this.#window.join()
    // A client that loses the connection before the first event also continues without a gap.
    yield `id: ${start}\nretry: ${RETRY_MS}\n\n`
    let after = start
    let sentAt = performance.now()
    // Undefined while the stream reads old events, which may take any time.
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

  /** Ends every stream; clients reconnect to another master without losing events. */
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
