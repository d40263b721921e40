import { setTimeout as delay } from 'node:timers/promises'
import { TestCluster, until, type TestClusterOptions } from '@scanfarm/cli/testing'
import pg from 'pg'
import type { Harness } from './harness.ts'

/** The value of production, not the shorter one of tests. */
const PRODUCTION_LEASE_MS = 20_000
/** Polls are rare because each one adds load; the end of the job is read from its last run. */
const POLL_MS = 500
const STUCK_MS = 60_000
const EXPANDED_MS = 600_000

/** A farm of real processes on a Postgres with synchronous commits. The harness disposes it at the latest. */
export async function startCluster(harness: Harness, options: TestClusterOptions): Promise<TestCluster> {
  const starting = TestCluster.start({
    durable: true,
    keepsFolder: true,
    ...options,
    env: {
      SCANFARM_WORKER_LEASE_MS: String(PRODUCTION_LEASE_MS),
      SCANFARM_LOG_LEVEL: 'warn',
      ...options.env,
    },
  })
  // Registered before the start has ended, so that Ctrl-C during the start leaves nothing behind.
  harness.use({
    [Symbol.asyncDispose]: async () => {
      const cluster = await starting.catch(() => undefined)
      await cluster?.[Symbol.asyncDispose]()
    },
  })
  return starting
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

export const hosts = (count: number, prefix = 'host'): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}.example.com`)

export interface Submitted {
  readonly job_id: string
  readonly run_uuid?: string
}

export const post = (cluster: TestCluster, body: Readonly<Record<string, unknown>>): Promise<Submitted> =>
  cluster.client.post<Submitted>('/runs', { run_mode: 'distributed', ...body })

/** Submits a job with an uploaded target file, like a user with many targets, and waits until all its runs exist. */
export async function postMany(
  harness: Harness,
  {
    cluster,
    db,
    runs,
    body,
  }: { cluster: TestCluster; db: Database; runs: number; body: Record<string, unknown> },
): Promise<string> {
  const file = await cluster.client.upload('targets.txt', hosts(runs).join('\n'))
  const { job_id } = await post(cluster, { ...body, target_file: file.path })
  const allCreated = async (): Promise<boolean> => {
    const { created } = await db.one<{ created: string }>(CREATED, [job_id])
    harness.progress(Number(created), runs, 'runs created')
    return Number(created) === runs
  }
  await until('all runs are created', allCreated, EXPANDED_MS)
  return job_id
}

const CREATED = 'select count(*) as created from runs where job_no = (select id from jobs where job_id = $1)'

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
