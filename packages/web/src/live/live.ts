import { useEffect } from 'react'
import { useQueryClient, type QueryClient, type QueryKey } from '@tanstack/react-query'
import { useWatched, Watched } from '../watched.ts'
import { outage } from './outage.ts'
import { keysOf } from './topics.ts'

export type LiveState = 'connecting' | 'live' | 'reconnecting' | 'paused'

/** At most two updates of the screen in a second. */
const BATCH_MS = 500
const RECONNECT_MS = 3_000
/** A tab that is hidden for so long closes its stream. */
const HIDE_MS = 10_000
/** A connection that was cut without a word looks like a quiet farm: the server is asked now and then. */
const ASK_MS = 30_000
/** Enough for the topic, which stands near the beginning of the data. */
const HEAD = 120
const TOPIC = /"topic":"([^"\\]{1,100})"/

/**
 * The one event stream of this tab. It reads the topic of an event without parsing the rest, remembers which queries the
 * topic concerns, and refreshes those that a screen shows, in batches.
 */
class LiveStream {
  readonly state = new Watched<LiveState>('connecting')
  #source: EventSource | undefined
  #isOld = false
  #queries: QueryClient | undefined
  #dirty = new Map<string, QueryKey>()
  #batch: ReturnType<typeof setTimeout> | undefined
  #reconnect: ReturnType<typeof setTimeout> | undefined
  #hide: ReturnType<typeof setTimeout> | undefined
  #ask: ReturnType<typeof setInterval> | undefined

  start(queries: QueryClient): () => void {
    this.#queries = queries
    document.addEventListener('visibilitychange', this.#visibility)
    this.#open()
    this.#ask = setInterval(() => document.hidden || outage.suspect(), ASK_MS)
    const forget = outage.since.watch(this.#outage)
    return () => {
      forget()
      clearInterval(this.#ask)
      document.removeEventListener('visibilitychange', this.#visibility)
      for (const timer of [this.#batch, this.#reconnect, this.#hide]) clearTimeout(timer)
      this.#batch = undefined
      this.#close('paused')
    }
  }

  /** Closes the stream for a log out, since the server resets the streams of an ended login. */
  async closeFor(logOut: () => Promise<unknown>): Promise<void> {
    clearTimeout(this.#reconnect)
    this.#close('paused')
    try {
      await logOut()
    } catch (error) {
      this.#open()
      throw error
    }
  }

  readonly #visibility = (): void => {
    clearTimeout(this.#hide)
    if (document.hidden) this.#hide = setTimeout(() => this.#close('paused'), HIDE_MS)
    else if (!this.#source) this.#open()
    else this.#flush()
  }

  /** The server may have lost the connection, too: a stream from before the outage is opened again, which reads everything. */
  readonly #outage = (): void => {
    if (this.state.get() === 'paused') return
    if (outage.since.get() !== undefined) {
      this.#isOld = true
      this.state.set('reconnecting')
    } else if (this.#isOld) {
      this.#close('reconnecting')
      this.#open()
    }
  }

  #open(): void {
    clearTimeout(this.#reconnect)
    const source = new EventSource('/api/events/stream')
    this.#source = source
    source.addEventListener('open', () => {
      this.#isOld = false
      this.state.set('live')
      // What happened before the stream was open is not in it.
      void this.#queries?.invalidateQueries({ refetchType: 'active', predicate: isLiveKey })
    })
    source.addEventListener('message', this.#take)
    source.addEventListener('error', () => {
      outage.suspect()
      // The browser reconnects by itself and sends Last-Event-ID, unless the server refused the stream.
      if (source.readyState !== EventSource.CLOSED) return this.state.set('reconnecting')
      this.#close('reconnecting')
      // A login that ended elsewhere is found here: on a page that asks for nothing, nothing else would tell.
      void this.#queries?.invalidateQueries({ queryKey: ['session'] })
      this.#reconnect = setTimeout(() => this.#open(), RECONNECT_MS)
    })
  }

  #close(state: LiveState): void {
    this.#source?.close()
    this.#source = undefined
    this.state.set(state)
  }

  readonly #take = (event: MessageEvent<string>): void => {
    const topic = TOPIC.exec(event.data.slice(0, HEAD))?.[1]
    if (topic === undefined) return
    for (const key of keysOf(topic)) this.#dirty.set(key.join(' '), key)
    if (this.#dirty.size > 0) this.#batch ??= setTimeout(() => this.#flush(), BATCH_MS)
  }

  #flush(): void {
    clearTimeout(this.#batch)
    this.#batch = undefined
    if (document.hidden) return
    const keys = [...this.#dirty.values()]
    this.#dirty = new Map()
    for (const queryKey of keys) {
      // A refresh that is under way is not started again: on a slow server it would never end.
      if (this.#queries?.isFetching({ queryKey, type: 'active' })) {
        this.#dirty.set(queryKey.join(' '), queryKey)
        this.#batch ??= setTimeout(() => this.#flush(), BATCH_MS)
      } else void this.#queries?.invalidateQueries({ queryKey, refetchType: 'active' })
    }
  }
}

const isLiveKey = ({ queryKey }: { queryKey: QueryKey }): boolean => queryKey[0] !== 'session'

const stream = new LiveStream()

/** Keeps the stream open while the component is mounted. */
export const useLiveStream = (): void => {
  const queries = useQueryClient()
  useEffect(() => stream.start(queries), [queries])
}

export const closeStreamFor = (logOut: () => Promise<unknown>): Promise<void> => stream.closeFor(logOut)

export const useLiveState = (): LiveState => useWatched(stream.state)
