import type { Readable } from 'node:stream'
import type { FeedFilter, FeedPosition, Store } from '@scanfarm/store'
import { firstFrame, frame, SentEvents, type Turn } from '../../http/sent-events.ts'
import type { Notifier } from '../../notifier.ts'
import { EventWindow, frameOf, WINDOW_BYTES } from './event-window.ts'

/** Page size of a stream that is behind the window. */
const PAGE = 200
const PAGE_BYTES = 128 * 1024
/** A stream that was up to date is ended after it has been behind the window for this long. */
const BEHIND_MS = 30_000

/** The event log as server-sent events, from a position and without gaps. */
export class EventStreams implements Disposable {
  readonly #feed: Store['feed']
  readonly #window: EventWindow
  readonly #behindMs: number
  readonly #streams = new SentEvents({
    what: 'event streams',
    ofCaller: 10,
    total: 100,
    advice: 'close one, or read several topics in one stream',
  })

  constructor(feed: Store['feed'], notifier: Notifier, behindMs = BEHIND_MS) {
    this.#feed = feed
    this.#window = new EventWindow(feed, notifier)
    this.#behindMs = behindMs
  }

  /** `after` undefined: from now on. Throws if there are too many streams. */
  async open(
    caller: string,
    after: FeedPosition | undefined,
    filter: FeedFilter,
    gone: AbortSignal,
  ): Promise<Readable> {
    return await this.#streams.open(caller, gone, async (closed) =>
      this.#turns(after ?? (await this.#feed.end()), filter, closed),
    )
  }

  async *#turns(start: FeedPosition, filter: FeedFilter, closed: AbortSignal): AsyncGenerator<Turn> {
    using _reading = this.#window.join()
    const { news } = this.#window
    yield firstFrame(start)
    let after = start
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
        // The window has not read its first page yet.
        if (page.entries.length === 0 && !page.more) yield { position: after, news }
      } else if ('upToDate' in next) {
        after = next.upToDate
        upToDateAt = performance.now()
        yield { position: after, news }
      } else {
        after = next.position
        yield next.bytes
      }
    }
  }

  [Symbol.dispose](): void {
    this.#streams[Symbol.dispose]()
  }
}

/** The last frame of a stream whose reader is too slow. */
const cutFrame = (position: FeedPosition): string =>
  frame(
    position,
    {
      message: `the reader is more than ${WINDOW_BYTES} bytes behind: connect again with Last-Event-ID`,
      last_event_id: position,
    },
    'cut',
  )
