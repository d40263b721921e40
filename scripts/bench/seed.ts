import type { Harness } from './harness.ts'
import type { Database } from './cluster.ts'

const RUNS_PER_JOB = 10_000
/** Runs in one statement. */
const CHUNK = 1_000_000
const WORKFLOWS = 20
const TABLES = ['runs', 'steps', 'event_logs']

export interface Seeded {
  readonly runs: number
  readonly middleId: number
  readonly middleUuid: string
  readonly middleTarget: string
  /** A job of 10,000 runs. */
  readonly jobId: string
}

/**
 * Stores ended runs like those of a farm after months: 90 % completed, of twenty workflows, in jobs of 10,000. The newest
 * `recorded` of them have one step and three events each. The indexes are rebuilt afterwards, which locks the tables.
 */
export async function seedRuns(
  harness: Harness,
  db: Database,
  { runs, recorded = 0 }: { runs: number; recorded?: number },
): Promise<Seeded> {
  await db.rows("insert into pinned_workflows (hash, json) values ('seed', '{}') on conflict do nothing")
  await db.rows(SETTINGS)
  const indexes = await db.rows<{ name: string; definition: string }>(INDEXES, [
    recorded > 0 ? TABLES : ['runs'],
  ])
  for (const { name } of indexes) await db.rows(`drop index ${name}`)
  for (let done = 0; done < runs; done += CHUNK) {
    harness.progress(done, runs, 'runs stored')
    // Steps and events are partitioned by id.
    await db.rows('select keep_all_partitions_ahead()')
    await db.rows(RUNS, [Math.min(CHUNK, runs - done) / RUNS_PER_JOB, RUNS_PER_JOB, WORKFLOWS])
  }
  harness.progress(runs, runs, '')
  for (const statement of recorded > 0 ? [STEPS, EVENTS] : []) await db.rows(statement, [recorded])
  for (const { definition } of indexes) await db.rows(definition)
  await db.rows(`vacuum (freeze, analyze) ${TABLES.join(', ')}, jobs`)
  await db.rows('checkpoint')
  return await middleOf(db, runs)
}

async function middleOf(db: Database, runs: number): Promise<Seeded> {
  const middle = await db.one<{ id: string; run_uuid: string; target: string; job_id: string }>(MIDDLE)
  return {
    runs,
    middleId: Number(middle.id),
    middleUuid: middle.run_uuid,
    middleTarget: middle.target,
    jobId: middle.job_id,
  }
}

/** Steps write no events of their own. */
const SETTINGS = `
select set_config('scanfarm.history', 'on', false), set_config('maintenance_work_mem', '1GB', false),
       set_config('synchronous_commit', 'off', false)`

const INDEXES = `
select i.indexrelid::regclass::text as name, replace(pg_get_indexdef(i.indexrelid), ' ON ONLY ', ' ON ') as definition
from pg_index i where i.indrelid = any(array(select t::regclass from unnest($1::text[]) t)) and not i.indisprimary`

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

/** Three events for each of the newest runs. */
export const addEvents = async (db: Database, runs: number): Promise<void> =>
  void (await db.rows(EVENTS, [runs]))

const EVENTS = `
insert into event_logs (topic, event_id, name, source, data_type, data, workspace, run_id, workflow_name, processed,
  processed_at)
select t.topic, 'evt_' || replace(gen_random_uuid()::text, '-', ''), t.topic, 'executor', t.type,
  json_build_object('run_id', r.id, 'run_uuid', r.run_uuid, 'workflow', r.workflow_name, 'target', r.target)::text,
  r.workspace, r.run_uuid::text, r.workflow_name, true, now()
from (select * from runs order by id desc limit $1) r,
     (values ('run.started', 'run'), ('step.completed', 'step'), ('run.completed', 'run')) as t(topic, type)`

const MIDDLE = `
select r.id, r.run_uuid, r.target, j.job_id from runs r join jobs j on j.id = r.job_no
where r.id >= (select (min(id) + max(id)) / 2 from runs) order by r.id limit 1`
