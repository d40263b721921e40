import type { Call } from './calls.ts'
import { eventsOf, type EventsOptions, type FarmEvent } from './events.ts'
import { logOf, type LogOptions, type LogPart } from './log.ts'
import { pagesOf, type ItemOf, type ListInit, type ListPath, type PageOf } from './pages.ts'
import { openTransport, type ClientOptions, type RawInit } from './transport.ts'
import { waitForJob, waitForRun, type Job, type RunDetail, type WaitOptions } from './wait.ts'

/** The API of a server. Every call rejects with an `ApiError` if it was refused or not answered. */
export interface Client {
  /** Without a slash at the end. */
  readonly url: string
  readonly GET: Call<'get'>
  readonly POST: Call<'post'>
  readonly PUT: Call<'put'>
  readonly PATCH: Call<'patch'>
  readonly DELETE: Call<'delete'>
  /** All records of a list. */
  list<P extends ListPath>(path: P, init?: ListInit<P>): AsyncGenerator<ItemOf<P>, void>
  /** The pages of a list, with their totals. */
  pages<P extends ListPath>(path: P, init?: ListInit<P>): AsyncGenerator<PageOf<P>, void>
  /** The events of the farm, live. */
  events(options?: EventsOptions): AsyncGenerator<FarmEvent, void>
  /** The log of a run, or the output of a step, live. */
  followLog(options: LogOptions): AsyncGenerator<LogPart, void>
  /** Waits until a run (number or `run_uuid`) has ended. */
  waitForRun(id: string | number, options?: WaitOptions<RunDetail>): Promise<RunDetail>
  /** Waits until all runs of a job have ended. */
  waitForJob(id: string, options?: WaitOptions<Job>): Promise<Job>
}

export const createClient = (options: ClientOptions = {}): Client => {
  const transport = openTransport(options)
  const call =
    (method: string) =>
    (path: string, init?: RawInit): Promise<unknown> =>
      transport.call(method, path, init)
  const pages = (path: string, init?: object) => pagesOf(transport, path, init as RawInit | undefined)
  async function* list(path: string, init?: object): AsyncGenerator<unknown, void> {
    for await (const { data } of pages(path, init)) yield* data
  }
  return {
    url: transport.url,
    GET: call('get') as Call<'get'>,
    POST: call('post') as Call<'post'>,
    PUT: call('put') as Call<'put'>,
    PATCH: call('patch') as Call<'patch'>,
    DELETE: call('delete') as Call<'delete'>,
    list: list as Client['list'],
    pages: pages as Client['pages'],
    events: (settings) => eventsOf(transport, settings),
    followLog: (settings) => logOf(transport, settings),
    waitForRun: (id, settings) => waitForRun(transport, id, settings),
    waitForJob: (id, settings) => waitForJob(transport, id, settings),
  }
}
