import { chmodSync, mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { TestCluster, type TestClusterOptions } from '@scanfarm/cli/testing'
import { endProgress, progress, say } from '@scanfarm/cli/demo'
import pg from 'pg'

/** The value of production, not the shorter one of tests. */
const PRODUCTION_LEASE_MS = 20_000
/** Polls are rare because each one adds load; the end of the job is read from its last run. */
const POLL_MS = 500
const STUCK_MS = 60_000
/** Users of commands pass through the folder. */
const PASSABLE = 0o711

/** Passed to every part: starts farms, and stops them on Ctrl-C too. */
export class Harness implements AsyncDisposable {
  /** Smaller numbers everywhere: rough figures after seconds instead of minutes. */
  readonly quick: boolean
  readonly #scope = new AsyncDisposableStack()
  #ending: Promise<void> | undefined

  /**
   * All temporary files are removed at the end: after the removal of many folders, ext4 needs ten times as long to make
   * new ones for a minute.
   */
  constructor(options: { quick: boolean }) {
    this.quick = options.quick
    const folder = mkdtempSync(join(tmpdir(), 'scanfarm-bench-'))
    chmodSync(folder, PASSABLE)
    process.env['TMPDIR'] = folder
    this.#scope.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
    const stopWith = (code: number) => (reason: unknown) => {
      if (reason instanceof Error) console.error(reason)
      void this[Symbol.asyncDispose]().finally(() => process.exit(code))
    }
    process.once('SIGINT', stopWith(130)).once('SIGTERM', stopWith(143))
  }

  /** A farm of real processes on a Postgres with synchronous commits. */
  async startCluster(options: TestClusterOptions): Promise<TestCluster> {
    const env = {
      SCANFARM_WORKER_LEASE_MS: String(PRODUCTION_LEASE_MS),
      SCANFARM_LOG_LEVEL: 'warn',
      ...options.env,
    }
    const starting = TestCluster.start({ durable: true, keepsFolder: true, ...options, env })
    // Registered before the start has ended, so that Ctrl-C during the start leaves nothing behind.
    this.#scope.defer(async () => {
      const cluster = await starting.catch(() => undefined)
      await cluster?.[Symbol.asyncDispose]()
    })
    return starting
  }

  /** Prints a line about the current measurement. */
  note(text: string): void {
    endProgress()
    say(`  ${text}`)
  }

  progress(done: number, total: number, what: string): void {
    if (done < total) progress(done, total, what)
    else endProgress()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return (this.#ending ??= this.#scope.disposeAsync())
  }
}

/** A connection to the database of the farm, for reads that are cheaper than through the API. */
export class Database implements AsyncDisposable {
  readonly #client: pg.Client

  private constructor(client: pg.Client) {
    this.#client = client
  }

  static async open(url: string): Promise<Database> {
    const client = new pg.Client({ connectionString: url })
    // The next query reports a connection that the server has closed.
    client.on('error', () => undefined)
    await client.connect()
    return new Database(client)
  }

  async rows<R extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<R[]> {
    return (await this.#client.query<R>(text, [...values])).rows
  }

  async one<R extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<R> {
    const [row] = await this.rows<R>(text, values)
    if (!row) throw new Error(`no row: ${text}`)
    return row
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.end()
  }
}

export const hosts = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `host-${index}.example.com`)

/** Submits a distributed job and returns its id. */
export const post = async (cluster: TestCluster, body: Readonly<Record<string, unknown>>): Promise<string> =>
  (await cluster.client.post<{ job_id: string }>('/runs', { run_mode: 'distributed', ...body })).job_id

/**
 * Waits until all runs of a job have ended, and returns the time of the last end in ms since the epoch. Rejects if a run
 * does not complete, or if none ends for a minute.
 */
export async function untilEnded(
  db: Database,
  jobId: string,
  options: { pollMs?: number; onProgress?: (ended: number, total: number) => void } = {},
): Promise<number> {
  let best = -1
  let movedAt = performance.now()
  for (;;) {
    const { total, ended, bad, last, why } = await db.one<EndedRow>(ENDED, [jobId])
    options.onProgress?.(Number(ended), Number(total))
    if (Number(bad) > 0) throw new Error(`${bad} runs of job ${jobId} did not complete; one of them: ${why}`)
    if (ended === total) return Number(last)
    if (Number(ended) > best) movedAt = performance.now()
    best = Number(ended)
    if (performance.now() - movedAt > STUCK_MS)
      throw new Error(`job ${jobId}: no run has ended for a minute (${ended} of ${total} have)`)
    await delay(options.pollMs ?? POLL_MS)
  }
}

interface EndedRow {
  total: string
  ended: string
  bad: string
  last: string | null
  why: string | null
}

const ENDED = `
select j.target_count::bigint as total,
       count(r.*) filter (where r.status in ('completed', 'failed', 'cancelled')) as ended,
       count(r.*) filter (where r.status in ('failed', 'cancelled')) as bad,
       max(r.error_message) as why,
       extract(epoch from max(r.completed_at)) * 1000 as last
from jobs j left join runs r on r.job_no = j.id where j.job_id = $1 group by j.id`

/** The median duration of `tries` calls in ms: other load of a shared machine distorts single ones. */
export async function medianMs(tries: number, work: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let attempt = 0; attempt < tries; attempt++) {
    const began = performance.now()
    await work()
    times.push(performance.now() - began)
  }
  return percentile(times, 50)
}

/** The value that `percent` of the values do not exceed. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)] ?? Number.NaN
}
