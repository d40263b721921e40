import { readdirSync, readFileSync } from 'node:fs'
import type { TestCluster } from '@scanfarm/cli/testing'
import { Database, type Harness } from './farm.ts'
import { atMost, type Figure } from './figure.ts'
import { rateOf } from './throughput.ts'

const WARM_UP = 400
const ROUNDS = 3
/** Of the stored runs, so many of the newest have steps and events. */
const RECORDED = 1_000_000
const RUNS_PER_JOB = 10_000
/** Runs that one statement stores. */
const CHUNK = 1_000_000
const WORKFLOWS = 20
/** The kernel reports CPU time in units of 1/100 s to every program. */
const US_PER_TICK = 10_000

interface Farm {
  readonly cluster: TestCluster
  readonly db: Database
}

interface Cost {
  /** CPU time of a run in µs: workers with their commands, masters, Postgres and Redis. */
  readonly us: number
  /** Runs per second. */
  readonly rate: number
}

/**
 * The cost of a run with many runs in the database: two farms on this machine execute the same jobs in turn, and only one
 * of them has ended runs. `BENCH_STORED=10000` selects sizes.
 */
export async function* growth(harness: Harness): AsyncGenerator<Figure> {
  const empty = await openFarm(harness)
  await using _first = empty.db
  const full = await openFarm(harness)
  await using _second = full.db
  let stored = 0
  for (const runs of sizesOf(harness)) {
    const text = runs.toLocaleString('en')
    harness.note(`${text} runs are stored`)
    await fill(harness, full, runs - stored)
    stored = runs
    const [without, withRuns] = await compare(harness, empty, full)
    yield {
      name: `CPU of a run, ${text} runs stored`,
      value: withRuns.us,
      unit: 'µs',
      limit: { what: 'without them', value: without.us },
      goal: atMost(1.2, 'ratio'),
    }
    yield {
      name: `targets a second, ${text} runs stored`,
      value: withRuns.rate,
      unit: '/s',
      limit: { what: 'without them', value: without.rate },
    }
  }
}

async function openFarm(harness: Harness): Promise<Farm> {
  const cluster = await harness.startCluster({ workers: 1, slots: 16 })
  return { cluster, db: await Database.open(cluster.postgres.url) }
}

const sizesOf = (harness: Harness): number[] =>
  process.env.BENCH_STORED?.split(',').map(Number) ??
  (harness.quick ? [10_000, 1_000_000] : [10_000, 1_000_000, 10_000_000])

async function compare(harness: Harness, ...farms: readonly [Farm, Farm]): Promise<[Cost, Cost]> {
  const count = harness.quick ? 600 : 3_000
  const costs = new Map(farms.map((farm): [Farm, Cost[]] => [farm, []]))
  for (const farm of farms) await rateOf(harness, { ...farm, module: 'noop', count: WARM_UP })
  for (let round = 0; round < ROUNDS; round++)
    for (const [farm, measured] of costs) {
      const before = await cpuOf(farm)
      const rate = await rateOf(harness, { ...farm, module: 'noop', count })
      measured.push({ us: ((await cpuOf(farm)) - before) / count, rate })
    }
  const mean = (farm: Farm, name: keyof Cost): number =>
    (costs.get(farm) ?? []).reduce((sum, cost) => sum + cost[name], 0) / ROUNDS
  const [first, second] = farms
  return [
    { us: mean(first, 'us'), rate: mean(first, 'rate') },
    { us: mean(second, 'us'), rate: mean(second, 'rate') },
  ]
}

interface Process {
  readonly pid: number
  readonly parent: number
  /** With that of its children that have ended. */
  readonly cpuUs: number
}

/** CPU time of all processes of a farm, of those that have ended too, in µs. */
async function cpuOf({ cluster, db }: Farm): Promise<number> {
  const all = readdirSync('/proc').map(Number).filter(Boolean).flatMap(processOf)
  const tree = (pid: number): Process[] => [
    ...all.filter((one) => one.pid === pid),
    ...all.filter(({ parent }) => parent === pid).flatMap((child) => tree(child.pid)),
  ]
  const { pid } = await db.one<{ pid: number }>('select pg_backend_pid() as pid')
  const postmaster = all.find((one) => one.pid === pid)?.parent ?? 0
  const redis = /process_id:(\d+)/.exec((await cluster.redis?.command('INFO server')) ?? '')?.[1]
  const programs = [...cluster.workers, ...cluster.masters.map(({ program }) => program)]
  const pids = programs.filter(({ running }) => running).map((program) => program.pid)
  return [postmaster, Number(redis), ...pids].flatMap(tree).reduce((sum, { cpuUs }) => sum + cpuUs, 0)
}

function processOf(pid: number): Process[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name of the program, in parentheses, can contain spaces.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
    return [{ pid, parent: Number(fields[1]), cpuUs: ticks * US_PER_TICK }]
  } catch {
    // It has ended.
    return []
  }
}

/** Stores more ended runs. The programs are stopped meanwhile: without indexes their statements would take too long. */
async function fill(harness: Harness, { cluster, db }: Farm, runs: number): Promise<void> {
  const [master] = cluster.masters
  for (const program of [...cluster.workers, ...cluster.masters.map((one) => one.program)])
    if (program.running) await program.stop()
  await seedRuns(harness, db, runs)
  await cluster.startMaster(master?.port)
  await cluster.startWorker(`worker-${cluster.workers.length + 1}`)
}

/** 90 % of the runs are completed, of twenty workflows; the newest ones have one step and three events each. */
async function seedRuns(harness: Harness, db: Database, runs: number): Promise<void> {
  await db.rows("insert into pinned_workflows (hash, json) values ('seed', '{}') on conflict do nothing")
  await db.rows(SETTINGS)
  const indexes = await db.rows<{ name: string; definition: string }>(INDEXES)
  for (const { name } of indexes) await db.rows(`drop index ${name}`)
  for (let done = 0; done < runs; done += CHUNK) {
    harness.progress(done, runs, 'runs stored')
    // Steps and events are partitioned by id.
    await db.rows('select keep_all_partitions_ahead()')
    await db.rows(RUNS, [Math.min(CHUNK, runs - done) / RUNS_PER_JOB, RUNS_PER_JOB, WORKFLOWS])
  }
  harness.progress(runs, runs, '')
  for (const statement of [STEPS, EVENTS]) await db.rows(statement, [Math.min(runs, RECORDED)])
  for (const { definition } of indexes) await db.rows(definition)
  await db.rows('vacuum (freeze, analyze) runs, steps, event_logs, jobs')
  await db.rows('checkpoint')
}

/** Steps write no events of their own. */
const SETTINGS = `
select set_config('scanfarm.history', 'on', false), set_config('maintenance_work_mem', '1GB', false),
       set_config('synchronous_commit', 'off', false)`

const INDEXES = `
select i.indexrelid::regclass::text as name, replace(pg_get_indexdef(i.indexrelid), ' ON ONLY ', ' ON ') as definition
from pg_index i where i.indrelid = any(array(select t::regclass from unnest('{runs,steps,event_logs}'::text[]) t)) and not i.indisprimary`

const RUNS = `
with made as (
  insert into jobs (job_id, workflow_name, workflow_kind, workflow_hash, params, priority, run_mode, runner_type,
    runner_given, docker_image, ssh_host, requirement_class, trigger_type, trigger_name, schedule_id, event_envelope,
    starts, target_count)
  select left(replace(gen_random_uuid()::text, '-', ''), 16), 'flow-' || n % $3::int, 'flow', 'seed', '{}', 'normal',
         'distributed', 'host', false, '', '', '', 'manual', '', '', '', true, $2::int
  from generate_series(1, $1::int) n
  returning id, job_id, workflow_name
)
insert into runs (run_uuid, job_no, workflow_name, run_mode, status, target, workspace, attempt, worker_id,
  started_at, completed_at, total_steps, completed_steps)
select gen_random_uuid(), j.id, j.workflow_name, 'distributed',
  case when n % 100 < 90 then 'completed' when n % 100 < 97 then 'failed' else 'cancelled' end,
  'host-' || n || '.' || j.job_id || '.example.com', 'host-' || n, 1, 'seed', now(), now(), 4, 4
from made j, generate_series(1, $2::int) n`

const STEPS = `
insert into steps (run_id, attempt, seq, id, name, type, module, status, command, output, error_message, exports,
  exit_code, duration_ms, log_file, started_at, completed_at)
select id, 1, 1, gen_random_uuid(), 'scan', 'bash', workflow_name, 'completed', 'scan ' || target, '', '', '{}', 0, 100,
  '', now(), now()
from runs order by id desc limit $1`

const EVENTS = `
insert into event_logs (topic, event_id, name, source, data_type, data, workspace, run_id, workflow_name, processed,
  processed_at)
select t.topic, 'evt_' || replace(gen_random_uuid()::text, '-', ''), t.topic, 'executor', t.type,
  json_build_object('run_id', r.id, 'run_uuid', r.run_uuid, 'workflow', r.workflow_name, 'target', r.target)::text,
  r.workspace, r.run_uuid::text, r.workflow_name, true, now()
from (select * from runs order by id desc limit $1) r,
     (values ('run.started', 'run'), ('step.completed', 'step'), ('run.completed', 'run')) as t(topic, type)`
