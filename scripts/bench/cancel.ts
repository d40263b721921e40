import { lives, pidsOf, until, type TestCluster } from '@scanfarm/cli/testing'
import type { Harness } from './harness.ts'
import { Database, post, postMany, startCluster } from './cluster.ts'
import { atMost, type Figure } from './figure.ts'
import { percentile, timeMs } from './timing.ts'

const WARM_UP = 3
/** Processes that the module `tree` starts; all ignore TERM if they can, so that each cancel takes the grace period of one second. */
const PROCESSES = 3

/** (i) Cancels of single runs and of a large job. */
export async function* cancelling(harness: Harness): AsyncGenerator<Figure> {
  await using cluster = await startCluster(harness, { workers: 2, slots: 2 })
  yield* ofRuns(harness, cluster)
  yield* ofJob(harness, cluster)
}

/** On an idle farm: from `DELETE /runs/{id}` until all processes of the run have ended. */
async function* ofRuns(harness: Harness, cluster: TestCluster): AsyncGenerator<Figure> {
  const tries = harness.quick ? 20 : 100
  const folder = await cluster.traces()
  const times: number[] = []
  for (let attempt = -WARM_UP; attempt < tries; attempt++) {
    harness.progress(Math.max(attempt, 0), tries - 1, 'cancelled runs')
    const ms = await cancelOnce(cluster, folder, `tree-${attempt + WARM_UP}.example.com`)
    if (attempt >= 0) times.push(ms)
  }
  for (const percent of [50, 99])
    yield {
      part: 'i',
      name: `DELETE until all processes, which ignore TERM for 1 s, have ended, p${percent}`,
      value: percentile(times, percent),
      unit: 'ms',
      ...(percent === 99 ? { target: atMost(2_000) } : {}),
    }
}

/** From `POST /jobs/{id}/cancel` until all runs are cancelled; four of them have a process. */
async function* ofJob(harness: Harness, cluster: TestCluster): AsyncGenerator<Figure> {
  const runs = 100_000
  await using db = await Database.open(cluster.postgres.url)
  const body = { module: 'gate', params: { folder: await cluster.traces() } }
  const jobId = await postMany(harness, { cluster, db, runs, body })
  harness.note(`cancel of a job of ${runs} runs`)
  const began = performance.now()
  await cluster.client.post(`/jobs/${jobId}/cancel`)
  const answered = performance.now() - began
  // The masters finish with this mark. Reading the runs again and again would cost as much as cancelling them.
  await until('all runs are cancelled', async () => (await db.rows(CANCELLING, [jobId])).length === 0)
  await until('no run is open', async () => (await db.rows(OPEN, [jobId])).length === 0)
  const done = performance.now() - began
  const { cancelled } = await db.one<{ cancelled: string }>(CANCELLED, [jobId])
  if (Number(cancelled) !== runs) throw new Error(`${cancelled} of ${runs} runs are cancelled`)
  const name = `cancel of a job of ${runs.toLocaleString('en')} runs`
  yield { part: 'i', name: `${name}, answered`, value: answered, unit: 'ms', target: atMost(1_000) }
  yield { part: 'i', name: `${name}, all cancelled`, value: done, unit: 'ms', target: atMost(10_000) }
}

const JOB = '(select id from jobs where job_id = $1)'
const CANCELLING = 'select from jobs where job_id = $1 and cancel_due_at is not null'
const OPEN = `select 1 from runs where job_no = ${JOB} and status in ('pending', 'queued', 'running') limit 1`
const CANCELLED = `select count(*) as cancelled from runs where job_no = ${JOB} and status = 'cancelled'`

async function cancelOnce(cluster: TestCluster, folder: string, target: string): Promise<number> {
  const { run_uuid: uuid } = await post(cluster, { module: 'tree', target, params: { folder } })
  await until('all processes of the module have started', () => pidsOf(folder, target).length === PROCESSES)
  const ms = await timeMs(() => cluster.client.delete(`/runs/${uuid}`))
  const left = pidsOf(folder, target).filter(lives)
  if (left.length > 0) throw new Error(`processes ${left.join(', ')} of ${target} are alive after the cancel`)
  return ms
}
