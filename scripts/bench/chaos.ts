/**
 * Executes one large job while faults are injected at full length: a worker is killed, one is frozen past its lease,
 * Redis is flushed, Redis is killed and restarted empty, the master is killed, Postgres is stopped for a minute. Exits
 * with 0 if no run was lost or duplicated.
 *
 *   scripts/run scripts/bench/chaos.ts [--targets 10000] [--outage 60]
 */
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { audit, jobEnded, submit, targets, until, type TestCluster } from '@scanfarm/cli/testing'
import { endProgress, progress, say, title } from '@scanfarm/cli/demo'
import { Database, Harness } from './farm.ts'

const LEASE_MS = 20_000
const ENDED_MS = 1_800_000
const STEPS = ['rest', 'say']
const POLL_MS = 500

interface Fault {
  readonly name: string
  /** Share of the runs that have ended when it happens. */
  readonly at: number
  inject(cluster: TestCluster): Promise<void>
}

const faults = (outageMs: number): Fault[] => [
  {
    name: 'a worker is killed, and another one joins',
    at: 0.1,
    inject: async (cluster) => {
      await cluster.workers[0]?.kill()
      await cluster.startWorker('worker-3')
    },
  },
  {
    name: 'Redis is flushed',
    at: 0.25,
    inject: async (cluster) => void (await cluster.redis?.command('FLUSHALL')),
  },
  {
    name: 'a worker is frozen past its lease, and continues',
    at: 0.4,
    inject: async (cluster) => {
      cluster.workers[1]?.signal('SIGSTOP')
      await delay(2 * LEASE_MS)
      cluster.workers[1]?.signal('SIGCONT')
    },
  },
  {
    name: 'Redis is killed, and restarted empty',
    at: 0.55,
    inject: async (cluster) => {
      await cluster.redis?.kill()
      await delay(LEASE_MS)
      await cluster.redis?.start()
    },
  },
  {
    name: 'the master is killed, and restarted',
    at: 0.65,
    inject: async (cluster) => {
      const [master] = cluster.masters
      await master?.program.kill()
      await cluster.startMaster(master?.port)
    },
  },
  {
    name: `Postgres is stopped for ${outageMs / 1_000} s`,
    at: 0.8,
    inject: async (cluster) => {
      await cluster.postgres.stop()
      await delay(outageMs)
      await cluster.postgres.restart()
    },
  },
]

async function chaos(harness: Harness, count: number, outageMs: number): Promise<number> {
  const cluster = await harness.startCluster({ workers: 2, slots: 8 })
  const hosts = targets(count)
  const began = Date.now()
  const jobId = await submit(cluster.client, { module: 'brief', targets: hosts })
  for (const fault of faults(outageMs)) {
    await untilShareEnded(cluster, jobId, fault.at * count)
    endProgress()
    say(`${seconds(began)} ${fault.name}`)
    await fault.inject(cluster)
  }
  await jobEnded(cluster.client, jobId, ENDED_MS)
  say(`${seconds(began)} the job has ended`)
  const { runs, problems } = await audit(cluster.client, jobId, { targets: hosts, steps: STEPS })
  const again = runs.filter(({ attempt }) => attempt > 1).length
  say(`${runs.length} runs, ${again} of them started more than once, ${problems.length} problems`)
  for (const problem of problems) say(`PROBLEM: ${problem}`)
  return problems.length === 0 ? 0 : 1
}

const seconds = (began: number): string => `${((Date.now() - began) / 1_000).toFixed(0).padStart(4)} s`

async function untilShareEnded(cluster: TestCluster, jobId: string, count: number): Promise<void> {
  await using db = await Database.open(cluster.postgres.url)
  const ended = async (): Promise<boolean> => {
    const row = await db.one<{ ended: string; total: string }>(
      `select count(*) filter (where status in ('completed', 'failed', 'cancelled')) as ended, count(*) as total
       from runs where job_no = (select id from jobs where job_id = $1)`,
      [jobId],
    )
    progress(Number(row.ended), Number(row.total), 'runs')
    await delay(POLL_MS)
    return Number(row.ended) >= count
  }
  await until(`${count} runs have ended`, ended, ENDED_MS)
}

async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { targets: { type: 'string', default: '10000' }, outage: { type: 'string', default: '60' } },
  })
  await using harness = new Harness({ quick: false })
  title(`Scanfarm with injected faults: ${values.targets} targets`)
  return await chaos(harness, Number(values.targets), Number(values.outage) * 1_000)
}

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(`chaos: ${error instanceof Error ? error.message : String(error)}`)
  return 1
})
