/**
 * One large job on a farm with every kind of fault, at full length: a worker killed, one frozen past
 * its lease, Redis flushed, Redis killed and restarted empty, the master killed, Postgres stopped for a minute. Exits with 0 if
 * nothing was lost or duplicated.
 *
 *   scripts/run scripts/bench/chaos.ts [--targets 10000] [--outage 60]
 */
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { audit, jobEnded, submit, targets, until, type TestCluster } from '@scanfarm/cli/testing'
import { endProgress, progress, say, title } from '../demo/screen.ts'
import { Bench } from './bench.ts'
import { Database, startFarm } from './farms.ts'

const LEASE_MS = 20_000
const ENDED_MS = 1_800_000
const STEPS = ['rest', 'say']
const POLL_MS = 500

interface Blow {
  readonly name: string
  /** Share of the runs that have ended when it happens. */
  readonly at: number
  strike(farm: TestCluster): Promise<void>
}

const blows = (outageMs: number): Blow[] => [
  {
    name: 'a worker is killed, and another one joins',
    at: 0.1,
    strike: async (farm) => {
      await farm.workers[0]?.kill()
      await farm.startWorker('worker-3')
    },
  },
  {
    name: 'Redis is flushed',
    at: 0.25,
    strike: async (farm) => void (await farm.redis?.command('FLUSHALL')),
  },
  {
    name: 'a worker is frozen past its lease, and goes on',
    at: 0.4,
    strike: async (farm) => {
      farm.workers[1]?.signal('SIGSTOP')
      await delay(2 * LEASE_MS)
      farm.workers[1]?.signal('SIGCONT')
    },
  },
  {
    name: 'Redis is killed, and comes back empty',
    at: 0.55,
    strike: async (farm) => {
      await farm.redis?.kill()
      await delay(LEASE_MS)
      await farm.redis?.start()
    },
  },
  {
    name: 'the master is killed, and started again',
    at: 0.65,
    strike: async (farm) => {
      const [master] = farm.masters
      await master?.program.kill()
      await farm.startMaster(master?.port)
    },
  },
  {
    name: `Postgres is away for ${outageMs / 1_000} s`,
    at: 0.8,
    strike: async (farm) => {
      await farm.postgres.stop()
      await delay(outageMs)
      await farm.postgres.restart()
    },
  },
]

async function chaos(bench: Bench, count: number, outageMs: number): Promise<number> {
  const farm = await startFarm(bench, { workers: 2, slots: 8 })
  const hosts = targets(count)
  const began = Date.now()
  const jobId = await submit(farm.client, { module: 'brief', targets: hosts })
  for (const blow of blows(outageMs)) {
    await untilShareEnded(farm, jobId, blow.at * count)
    endProgress()
    say(`${seconds(began)} ${blow.name}`)
    await blow.strike(farm)
  }
  await jobEnded(farm.client, jobId, ENDED_MS)
  say(`${seconds(began)} the job has ended`)
  const { runs, problems } = await audit(farm.client, jobId, { targets: hosts, steps: STEPS })
  const again = runs.filter(({ attempt }) => attempt > 1).length
  say(`${runs.length} runs, ${again} of them started more than once, ${problems.length} problems`)
  for (const problem of problems) say(`PROBLEM: ${problem}`)
  return problems.length === 0 ? 0 : 1
}

const seconds = (began: number): string => `${((Date.now() - began) / 1_000).toFixed(0).padStart(4)} s`

async function untilShareEnded(farm: TestCluster, jobId: string, count: number): Promise<void> {
  await using db = await Database.open(farm.postgres.url)
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
  const bench = new Bench({ quick: false })
  bench.disposeOnStop()
  try {
    title(`Scanfarm under attack: ${values.targets} targets`)
    return await chaos(bench, Number(values.targets), Number(values.outage) * 1_000)
  } finally {
    await bench[Symbol.asyncDispose]()
  }
}

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(`chaos: ${error instanceof Error ? error.message : String(error)}`)
  return 1
})
