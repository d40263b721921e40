import type { ApiError } from './api-error.ts'
import type { Answer } from './calls.ts'
import { eventsOf, type EventsOptions } from './events.ts'
import { pause, type RetryOptions } from './retry.ts'
import type { RawInit, Transport } from './transport.ts'

export type RunDetail = Answer<'/runs/{id}', 'get'>['data']['data']
export type Job = Answer<'/jobs/{job_id}', 'get'>['data']

export interface WaitOptions<T> {
  /** Called with each state that was read; the wait continues after it has ended. */
  readonly onProgress?: (state: T) => void | Promise<void>
  /** Rejects the wait with its reason. */
  readonly signal?: AbortSignal
  /** The state is also read without news after this time; default 15 seconds, or 2 seconds without a stream of events. */
  readonly refreshMs?: number
  /** How long the server may be away; default two minutes. */
  readonly retry?: RetryOptions
}

const REFRESH_MS = 15_000
const POLL_MS = 2_000
const LEAST_MS = 250
/** The status of a big job is expensive: requests take at most a tenth of the time. */
const PAUSE_FACTOR = 9
const AWAY_MS = 120_000

/** Wakes a waiter when something happened, also if it happened before the wait. */
class Bell {
  #rung = false
  #wake: (() => void) | undefined

  ring(): void {
    this.#rung = true
    this.#wake?.()
  }

  async next(ms: number, signal: AbortSignal): Promise<void> {
    const stop = new AbortController()
    this.#wake = () => stop.abort()
    if (!this.#rung)
      await pause(ms, AbortSignal.any([signal, stop.signal])).catch(() => signal.throwIfAborted())
    this.#wake = undefined
    this.#rung = false
  }
}

/** Rings for each event that matters, and says whether the stream is open. It never fails: without it, waiters poll. */
class News {
  readonly bell = new Bell()
  isOpen = false

  async listen(
    transport: Transport,
    options: EventsOptions,
    matters: (data: string) => boolean,
  ): Promise<void> {
    const onConnection = (error: ApiError | undefined): void => {
      this.isOpen = error === undefined
      this.bell.ring()
    }
    try {
      for await (const { data } of eventsOf(transport, { ...options, onConnection }))
        if (matters(data)) this.bell.ring()
    } catch {
      this.isOpen = false
    }
  }
}

/** Reads a state until it is the last one: when there is news of it, and now and then. */
const waitUntil = async <T>(
  read: (init: RawInit) => Promise<T>,
  isOver: (state: T) => boolean,
  listen: (news: News, state: T, signal: AbortSignal) => void,
  { onProgress, signal: given, refreshMs, retry }: WaitOptions<T>,
): Promise<T> => {
  const done = new AbortController()
  const signal = given === undefined ? done.signal : AbortSignal.any([given, done.signal])
  const news = new News()
  let listens = false
  try {
    for (;;) {
      const began = performance.now()
      const state = await read({ signal, retry: { withinMs: AWAY_MS, ...retry } })
      await onProgress?.(state)
      if (isOver(state)) return state
      if (!listens) listen(news, state, signal)
      listens = true
      await pause(Math.max(LEAST_MS, (performance.now() - began) * PAUSE_FACTOR), signal)
      await news.bell.next(refreshMs ?? (news.isOpen ? REFRESH_MS : POLL_MS), signal)
    }
  } finally {
    done.abort()
  }
}

const ENDED = new Set(['completed', 'failed', 'cancelled'])

/** Waits until a run has ended, however it ended. */
export const waitForRun = (
  transport: Transport,
  id: string | number,
  options: WaitOptions<RunDetail> = {},
): Promise<RunDetail> =>
  waitUntil(
    async (init) => {
      const { data } = await transport.call('get', '/runs/{id}', { ...init, params: { path: { id } } })
      return (data as { data: RunDetail }).data
    },
    ({ status }) => ENDED.has(status),
    (news, { run_uuid: runId }, signal) => void news.listen(transport, { runId, signal }, () => true),
    options,
  )

/** The runs of a job that were cancelled while they waited have no events: `job.ended` tells of them. */
const RUNS_AND_JOBS = '[jr]*'

/** Waits until all runs of a job have ended, however they ended. */
export const waitForJob = (transport: Transport, id: string, options: WaitOptions<Job> = {}): Promise<Job> =>
  waitUntil(
    async (init) => {
      const { data } = await transport.call('get', '/jobs/{job_id}', {
        ...init,
        params: { path: { job_id: id } },
      })
      return data as Job
    },
    ({ total_runs: total, completed, failed, cancelled }) => completed + failed + cancelled === total,
    (news, _, signal) =>
      void news.listen(transport, { topic: RUNS_AND_JOBS, signal }, (data) =>
        data.includes(JSON.stringify(id)),
      ),
    options,
  )
