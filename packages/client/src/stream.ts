import { ApiError, failureText } from './api-error.ts'
import { pause, waitAfter } from './retry.ts'
import { readEvents, type ServerSentEvent } from './server-sent-events.ts'
import type { RawInit, Transport } from './transport.ts'

/** Options of every stream. */
export interface StreamOptions {
  /** Continue after this position: the `position` of the last received entry. */
  readonly lastEventId?: string
  /** Ends the stream: the loop over it throws the reason. */
  readonly signal?: AbortSignal
  /** How long a lost connection is opened again before the stream throws; default two minutes, `Infinity` for ever. */
  readonly reconnectWithinMs?: number
  /** Called without an error when the stream is connected, and with one when the connection was lost. */
  readonly onConnection?: (error: ApiError | undefined) => void
}

const RECONNECT_WITHIN_MS = 120_000
/** The server sends something every 15 seconds. */
const SILENCE_MS = 60_000
const RETRY_MS = 2_000
const MOST_RETRY_MS = 10_000

const broken = (url: string, message: string, cause?: unknown): ApiError =>
  new ApiError({ status: 0, code: 'unreachable', message, method: 'GET', url, cause })

/** The events of one connection. A connection that is silent for too long is dead, but does not end by itself. */
async function* eventsOf(body: ReadableStream<Uint8Array>, stop: AbortController, url: string) {
  const silent = (): void => stop.abort(new Error(`nothing arrived for ${SILENCE_MS / 1_000} seconds`))
  let timer = setTimeout(silent, SILENCE_MS)
  const onBytes = (): void => {
    clearTimeout(timer)
    timer = setTimeout(silent, SILENCE_MS)
  }
  try {
    // A signal that only the request knows may be collected as garbage while the answer is read.
    yield* readEvents(body.pipeThrough(new TransformStream(), { signal: stop.signal }), onBytes)
  } catch (error) {
    throw broken(url, `the stream was cut off: ${failureText(error)}`, error)
  } finally {
    clearTimeout(timer)
  }
}

const bodyOf = (data: unknown, { headers, url }: Response): ReadableStream<Uint8Array> => {
  if (data instanceof ReadableStream && headers.get('content-type')?.startsWith('text/event-stream') === true)
    return data as ReadableStream<Uint8Array>
  throw new ApiError({
    status: 0,
    code: 'invalid_answer',
    message: 'the answer is not a stream of events: the server may be older than this client',
    method: 'GET',
    url,
  })
}

/**
 * The events of a path. A lost connection is opened again with the id of the last event, so nothing is lost or
 * repeated. Ends after the event for which `isLast` holds.
 */
export async function* follow(
  transport: Transport,
  path: string,
  init: RawInit,
  options: StreamOptions,
  isLast: (event: ServerSentEvent) => boolean = () => false,
): AsyncGenerator<ServerSentEvent> {
  const { signal, onConnection, reconnectWithinMs = RECONNECT_WITHIN_MS } = options
  let last = options.lastEventId ?? ''
  let retryMs = RETRY_MS
  let failures = 0
  let lostAt: number | undefined
  for (;;) {
    const stop = new AbortController()
    const onAbort = (): void => stop.abort(signal?.reason)
    signal?.addEventListener('abort', onAbort)
    let cut = false
    try {
      signal?.throwIfAborted()
      const { data, response } = await transport.call('get', path, {
        ...init,
        headers: { accept: 'text/event-stream', ...(last === '' ? {} : { 'last-event-id': last }) },
        parseAs: 'stream',
        retry: false,
        signal: stop.signal,
      })
      const body = bodyOf(data, response)
      onConnection?.(undefined)
      for await (const event of eventsOf(body, stop, response.url)) {
        ;[failures, lostAt] = [0, undefined]
        retryMs = event.retryMs ?? retryMs
        last = event.id || last
        // A reader that was too slow continues at once from the position that the server names.
        cut = event.event === 'cut'
        if (!cut) yield event
        if (isLast(event)) return
      }
      if (!cut) throw broken(response.url, 'the server ended the stream')
    } catch (error) {
      signal?.throwIfAborted()
      if (!(error instanceof ApiError) || !error.isTemporary) throw error
      lostAt ??= performance.now()
      failures += 1
      const wait = waitAfter(error, failures, { firstMs: retryMs, mostMs: Math.max(retryMs, MOST_RETRY_MS) })
      if (performance.now() + wait - lostAt > reconnectWithinMs) throw error
      onConnection?.(error)
      await pause(wait, signal)
    } finally {
      signal?.removeEventListener('abort', onAbort)
      // Also when the caller leaves its loop.
      stop.abort()
    }
  }
}
