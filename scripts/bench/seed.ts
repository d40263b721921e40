import type { Harness } from './harness.ts'
import type { Database } from './cluster.ts'

const RUNS_PER_JOB = 10_000
const WORKFLOWS = 20

export interface Seeded {
  readonly runs: number
  readonly middleId: number
  readonly middleUuid: string
  readonly middleTarget: string
  /** A job of 10,000 runs. */
  readonly jobId: string
}

/** Stores ended runs like those of a farm after months: 90 % completed, of twenty workflows. */
export async function seedRuns(harness: Harness, db: Database, runs: number): Promise<Seeded> {
  await db.rows("insert into pinned_workflows (hash, json) values ('seed', '{}')")
  const jobs = runs / RUNS_PER_JOB
  for (let job = 0; job < jobs; job++) {
    harness.progress(job, jobs, 'jobs of 10,000 runs stored')
    await db.rows(JOB, [job.toString(16).padStart(16, '0'), `flow-${job % WORKFLOWS}`, RUNS_PER_JOB])
  }
  harness.progress(jobs, jobs, '')
  await db.rows('vacuum analyze runs')
  const middle = await db.one<{ id: string; run_uuid: string; target: string; job_id: string }>(MIDDLE)
  return {
    runs,
    middleId: Number(middle.id),
    middleUuid: middle.run_uuid,
    middleTarget: middle.target,
    jobId: middle.job_id,
  }
}

const JOB = `
with job as (
  insert into jobs (job_id, workflow_name, workflow_kind, workflow_hash, params, priority, run_mode, runner_type,
    runner_given, docker_image, ssh_host, requirement_class, trigger_type, trigger_name, schedule_id, event_envelope,
    starts, target_count)
  values ($1, $2, 'flow', 'seed', '{}', 'normal', 'distributed', 'host', false, '', '', '', 'manual', '', '', '',
    true, $3)
  returning id
)
insert into runs (run_uuid, job_no, workflow_name, run_mode, status, target, workspace, attempt, worker_id,
  started_at, completed_at, total_steps, completed_steps)
select gen_random_uuid(), job.id, $2, 'distributed',
  case when n % 100 < 90 then 'completed' when n % 100 < 97 then 'failed' else 'cancelled' end,
  'host-' || n || '.' || $1 || '.example.com', 'host-' || n, 1, 'seed', now(), now(), 4, 4
from job, generate_series(1, $3::int) n`

const MIDDLE = `
select r.id, r.run_uuid, r.target, j.job_id from runs r join jobs j on j.id = r.job_no
where r.id >= (select (min(id) + max(id)) / 2 from runs) order by r.id limit 1`
