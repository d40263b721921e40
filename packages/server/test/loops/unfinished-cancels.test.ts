import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { asSuperuser } from '@scanfarm/store/testing'
import { until } from '@scanfarm/testing'
import { openLoopHarness, type LoopHarness } from './_loop-harness.ts'

const TOKEN = 'sft_unfinished_cancels'
const TEST_MS = 180_000
const CHUNK = 5_000
/** Runs of a job: two chunks for each half of a cancel; a worker has claimed the first ones. */
const RUNS = 4 * CHUNK
const RUNNING = 3

let harness: LoopHarness
let folder: string
beforeAll(async () => {
  harness = await openLoopHarness()
  folder = await mkdtemp(join(tmpdir(), 'scanfarm-cancels-'))
})
afterAll(async () => {
  await harness[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

/** Starts a server without slots in a separate process. */
const startMaster = async () => {
  const settings = {
    data_dir: join(folder, 'data'),
    'database.url': harness.url,
    'auth.initial_token': TOKEN,
    'http.port': 0,
    'local.slots': 0,
    'server.master': false,
    // The runs of a worker must not be ended by force here.
    'runs.cancel_grace_ms': 60_000,
  }
  const child = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      join(import.meta.dirname, '../cloud/server-program.ts'),
      JSON.stringify(settings),
    ],
    { stdio: ['ignore', 'pipe', 'inherit'], env: { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] } },
  )
  const exit = once(child, 'exit')
  const [url] = (await once(createInterface(child.stdout), 'line')) as [string]
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await exit
  }
  return { url, kill, [Symbol.asyncDispose]: kill }
}

const numbers = async (statement: string): Promise<Record<string, number>> =>
  Object.fromEntries(
    (await harness.sql(statement)).map(({ key, n }) => [String(key), Number(n)] as [string, number]),
  )
const statuses = () => numbers('select status as key, count(*) as n from runs group by status')

/** Wait events of the statements that cancel runs at the moment. */
const cancelling = async () =>
  (
    await harness.sql(`select wait_event_type from pg_stat_activity
      where state = 'active' and query like '%from cancel_waiting(%' and datname = current_database()
        and pid <> pg_backend_pid()`)
  ).map((row) => String(row['wait_event_type']))

test(
  'the next master finishes the cancel of a job whose runs wait for a slot after one was killed during it',
  async () => {
    await harness.reset()
    const { jobId, messages } = await harness.submit(RUNS, { runMode: 'local', concurrency: 2 })
    const workerId = await harness.join({ leaseMs: 600_000 })
    const claimed = await harness.runStore.claimLocal(workerId, RUNNING)
    // In the chunk after that of the request, and in the first chunk of the second half.
    const held = [messages[CHUNK + 10]?.runId, messages[RUNS / 2 + 10]?.runId]
    {
      await using first = await startMaster()
      await asSuperuser(async (client) => {
        await client.query('begin')
        await client.query('select 1 from runs where id = any($1) for update', [held])
        const answer = fetch(`${first.url}/api/jobs/${jobId}/cancel`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${TOKEN}` },
        }).catch(() => undefined)
        await until(
          async () => (await cancelling()).filter((event) => event === 'Lock').length === held.length,
        )
        await first.kill()
        await answer
        await client.query('rollback')
      }, harness.url)
    }
    // The statements in progress may end without their master; nothing follows them.
    await until(async () => (await cancelling()).length === 0)
    expect((await statuses())['queued']).toBeGreaterThanOrEqual(RUNS - 3 * CHUNK - claimed.length)
    expect((await statuses())['cancelled']).toBeGreaterThanOrEqual(CHUNK)

    await using _second = await startMaster()
    await until(async () => ((await statuses())['queued'] ?? 0) === 0)
    expect(await statuses()).toEqual({ cancelled: RUNS - claimed.length, running: claimed.length })
    const { runs } = await harness.runStore.heartbeat(workerId, claimed.length)
    expect(runs.map(({ cancelRequested }) => cancelRequested)).toEqual(claimed.map(() => true))
    expect(await harness.sql('select 1 from outbox limit 1')).toEqual([])
    expect(await numbers('select run_id as key, 1 as n from slots')).toEqual(
      Object.fromEntries(claimed.map(({ runId }) => [runId, 1])),
    )
    await until(
      async () => (await harness.sql('select 1 from jobs where cancel_due_at is not null')).length === 0,
    )
  },
  TEST_MS,
)
