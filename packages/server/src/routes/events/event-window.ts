import type { FeedEntry, FeedFilter, FeedPosition, Store } from '@scanfarm/store'
import { frame } from '../../http/sent-events.ts'
import { Notifier } from '../../notifier.ts'
import { topicGlob } from '@scanfarm/contracts'

/** Bytes of frames kept for streams that are almost up to date. */
export const WINDOW_BYTES = 1024 * 1024
/** Entries read in one query. */
const PAGE = 200
/** Polling interval; a notification triggers an earlier read. */
const POLL_MS = 500

/** An entry in the form that is sent to streams. */
export interface Frame {
  readonly position: FeedPosition
  readonly bytes: Buffer
  readonly about: Required<FeedFilter>
}

/** What follows a position: a frame, no matching frame, or frames that were evicted. */
export type Next = Frame | { readonly upToDate: FeedPosition } | 'gone'

export const frameOf = ({ position, ...entry }: FeedEntry): Frame => ({
  position,
  about: {
    topic: entry.topic,
    workspace: entry.workspace,
    runId: entry.run_id,
    workflowName: entry.workflow_name,
  },
  bytes: Buffer.from(frame(position, entry)),
})

const KEYS = ['workspace', 'runId', 'workflowName'] as const

const matchers = new WeakMap<FeedFilter, (topic: string) => boolean>()

const wantsTopic = (filter: FeedFilter, topic: string): boolean => {
  if (filter.topic === undefined) return true
  const matches = matchers.get(filter) ?? topicGlob(filter.topic)
  matchers.set(filter, matches)
  return matches(topic)
}

const wants = (filter: FeedFilter, about: Required<FeedFilter>): boolean =>
  wantsTopic(filter, about.topic) &&
  KEYS.every((key) => filter[key] === undefined || filter[key] === about[key])

const isAfter = (one: FeedPosition, other: FeedPosition): boolean => {
  const [tx = '', id = ''] = one.split('-')
  const [otherTx = '', otherId = ''] = other.split('-')
  return tx === otherTx ? Number(id) > Number(otherId) : BigInt(tx) > BigInt(otherTx)
}

/** The newest entries of the event log, read and serialised once for all streams. */
export class EventWindow {
  /** Notifies when there are new entries, and when reading failed. */
  readonly news = new Notifier()
  readonly #feed: Store['feed']
  readonly #notifier: Notifier
  #frames: Frame[] = []
  #bytes = 0
  #start: FeedPosition = ''
  #end: FeedPosition = ''
  #readers = 0
  #running = false
  #failure: Error | undefined

  constructor(feed: Store['feed'], notifier: Notifier) {
    this.#feed = feed
    this.#notifier = notifier
  }

  /** The window is updated while it has readers. */
  join(): Disposable {
    this.#readers += 1
    this.#failure = undefined
    if (!this.#running) void this.#run()
    return { [Symbol.dispose]: () => void (this.#readers -= 1) }
  }

  /** Throws if the database could not be read since the last reader joined. */
  next(after: FeedPosition, filter: FeedFilter): Next {
    if (this.#failure !== undefined) throw this.#failure
    if (this.#end === '' || isAfter(this.#start, after)) return 'gone'
    for (let index = this.#firstAfter(after); index < this.#frames.length; index += 1) {
      const frame = this.#frames[index]
      if (frame !== undefined && wants(filter, frame.about)) return frame
    }
    return { upToDate: isAfter(after, this.#end) ? after : this.#end }
  }

  #firstAfter(after: FeedPosition): number {
    let [low, high] = [0, this.#frames.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (isAfter(this.#frames[middle]?.position ?? '', after)) high = middle
      else low = middle + 1
    }
    return low
  }

  async #run(): Promise<void> {
    this.#running = true
    try {
      this.#start = this.#end = await this.#feed.end()
      while (this.#readers > 0) {
        const { entries, next, more } = await this.#feed.read({ after: this.#end, limit: PAGE })
        for (const entry of entries) this.#add(frameOf(entry))
        this.#end = next
        this.news.notify()
        if (!more) await this.#notifier.next(POLL_MS)
      }
    } catch (error) {
      this.#failure = Error.isError(error) ? error : new Error(String(error))
      this.news.notify()
    } finally {
      this.#running = false
      this.#frames = []
      this.#bytes = 0
      this.#start = this.#end = ''
    }
  }

  #add(frame: Frame): void {
    this.#frames.push(frame)
    this.#bytes += frame.bytes.length
    while (this.#bytes > WINDOW_BYTES && this.#frames.length > 1) {
      const [oldest] = this.#frames.splice(0, 1)
      if (oldest === undefined) return
      this.#bytes -= oldest.bytes.length
      this.#start = oldest.position
    }
  }
}
