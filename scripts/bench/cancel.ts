import { lives, pidsOf, until, type TestCluster } from '@scanfarm/cli/testing'
import type { Harness } from './harness.ts'
import { post, startCluster } from './cluster.ts'
import { atMost, type Figure } from './figure.ts'
import { percentile, timeMs } from './timing.ts'

const WARM_UP = 3
/** Processes that the module `tree` starts; all ignore TERM if they can, so that each cancel takes the grace period of one second. */
const PROCESSES = 3

/** (i) On an idle farm: from `DELETE /runs/{id}` until all processes of the run have ended. */
export async function* cancelling(harness: Harness): AsyncGenerator<Figure> {
  const tries = harness.quick ? 20 : 100
  await using cluster = await startCluster(harness, { workers: 2, slots: 2 })
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

async function cancelOnce(cluster: TestCluster, folder: string, target: string): Promise<number> {
  const { run_uuid: uuid } = await post(cluster, { module: 'tree', target, params: { folder } })
  await until('all processes of the module have started', () => pidsOf(folder, target).length === PROCESSES)
  const ms = await timeMs(() => cluster.client.delete(`/runs/${uuid}`))
  const left = pidsOf(folder, target).filter(lives)
  if (left.length > 0) throw new Error(`processes ${left.join(', ')} of ${target} are alive after the cancel`)
  return ms
}
