import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import { AppError } from '@scanfarm/contracts'
import { Type } from 'typebox'
import type { Notifier } from '../notifier.ts'
import { wrongField } from './refusal.ts'
import { bytes, type Answer } from './answer.ts'

/** Maximum wait of an idle stream before it checks whether it was closed. */
const LOOK_MS = 500
/** Interval of keep-alive comments, which carry the current position. */
const PING_MS = 15_000
/** Delay before a client reconnects. */
const RETRY_MS = 2_000
/** Delay before a caller with too many streams tries again. */
const LATER_SECONDS = 30

/** What a stream sends next: text or bytes of events, or its position while it waits for news. */
export type Turn = string | Buffer | { readonly position: string; readonly news: Notifier }

export interface SentEventsOptions {
  /** Plural, for messages. */
  readonly what: string
  readonly ofCaller: number
  readonly total: number
  /** What a caller with too many streams can do. */
  readonly advice: string
}

/**
 * Streams of server-sent events: a limited number at the same time, for each caller and in total. A stream buffers only
 * what its reader is currently receiving: its next turn begins after the previous one was sent.
 */
export class SentEvents implements Disposable {
  readonly #options: SentEventsOptions
  /** Open streams and streams being opened, by caller. */
  readonly #counts = new Map<string, number>()
  readonly #open = new Set<Readable>()
  readonly #ending = new AbortController()

  constructor(options: SentEventsOptions) {
    this.#options = options
  }

  /**
   * Throws if there are too many streams. `begin` gets a signal that aborts when the client disconnects (`gone`) or the
   * server stops, because a destroyed stream would still wait for its next turn.
   */
  async open(
    caller: string,
    gone: AbortSignal,
    begin: (closed: AbortSignal) => Promise<AsyncIterable<Turn>>,
  ): Promise<Readable> {
    this.#enter(caller)
    try {
      const closed = AbortSignal.any([gone, this.#ending.signal])
      const stream = Readable.from(sent(await begin(closed), closed), { objectMode: false })
      this.#open.add(stream)
      stream.once('close', () => {
        this.#open.delete(stream)
        this.#leave(caller)
      })
      return stream
    } catch (error) {
      this.#leave(caller)
      throw error
    }
  }

  /** Ends every stream; clients reconnect to another master without losing events. */
  [Symbol.dispose](): void {
    this.#ending.abort()
    for (const stream of this.#open) stream.destroy()
  }

  #enter(caller: string): void {
    const { what, ofCaller, total, advice } = this.#options
    const own = this.#counts.get(caller) ?? 0
    const later = { retryAfter: LATER_SECONDS }
    if (own >= ofCaller)
      throw new AppError(
        'too_many_requests',
        `this caller already has ${ofCaller} open ${what}: ${advice}`,
        later,
      )
    if (this.#counts.values().reduce((sum, count) => sum + count, 0) >= total)
      throw new AppError('unavailable', `${total} ${what} are already open; try again later`, later)
    this.#counts.set(caller, own + 1)
  }

  #leave(caller: string): void {
    const left = (this.#counts.get(caller) ?? 1) - 1
    if (left > 0) this.#counts.set(caller, left)
    else this.#counts.delete(caller)
  }
}

async function* sent(turns: AsyncIterable<Turn>, closed: AbortSignal): AsyncGenerator<string | Buffer> {
  let sentAt = performance.now()
  for await (const turn of turns) {
    if (typeof turn === 'string' || Buffer.isBuffer(turn)) yield turn
    else if (performance.now() - sentAt > PING_MS) yield `id: ${turn.position}\n: ping\n\n`
    else {
      await turn.news.next(LOOK_MS)
      if (closed.aborted) return
      continue
    }
    sentAt = performance.now()
  }
}

/** A client that loses the connection before the first event continues here, also without a gap. */
export const firstFrame = (position: string): string => `id: ${position}\nretry: ${RETRY_MS}\n\n`

/** JSON contains no line breaks, so it is one line. `name` missing: a message. */
export const frame = (position: string, data: unknown, name?: string): string =>
  `id: ${position}\n${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`

export const sendEvents = (stream: Readable): Answer =>
  bytes(200, stream, { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' })

export const lastEventQuery = {
  last_event_id: Type.Optional(
    Type.String({ description: 'For clients that cannot set the header; the header takes precedence' }),
  ),
}

/** The position after which a client continues. `read` returns undefined for a text that is none. */
export const lastEvent = <T>(
  { headers }: { readonly headers: IncomingHttpHeaders },
  { last_event_id: asked }: { readonly last_event_id?: string },
  read: (text: string) => T | undefined,
): T | undefined => {
  const header = headers['last-event-id']
  const given = typeof header === 'string' && header !== '' ? header : (asked ?? '')
  if (given === '') return undefined
  const position = read(given)
  if (position !== undefined) return position
  const path = given === header ? '/Last-Event-ID' : '/last_event_id'
  throw wrongField(path, 'must be the id of an event of this stream')
}
