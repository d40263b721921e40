import { lives, pidsOf, until, type TestCluster } from '@scanfarm/cli/testing'
import type { Bench } from './bench.ts'
import { post, startFarm } from './farms.ts'
import { atMost, type Figure } from './figure.ts'
import { percentile, timeMs } from './timing.ts'

const WARM_UP = 3
/** Processes that the module `tree` starts; all ignore TERM if they can, so that each cancel takes the grace period of one second. */
const PROCESSES = 3

/** (i) On an idle farm: from `DELETE /runs/{id}` until all processes of the run have ended. */
export async function* cancelling(bench: Bench): AsyncGenerator<Figure> {
  const tries = bench.quick ? 20 : 100
  await using farm = await startFarm(bench, { workers: 2, slots: 2 })
  const folder = await farm.traces()
  const times: number[] = []
  for (let attempt = -WARM_UP; attempt < tries; attempt++) {
    bench.progress(Math.max(attempt, 0), tries - 1, 'cancelled runs')
    const ms = await cancelOnce(farm, folder, `tree-${attempt + WARM_UP}.example.com`)
    if (attempt >= 0) times.push(ms)
  }
  for (const percent of [50, 99])
    yield {
      part: 'i',
      name: `DELETE to the last process dead, where all ignore TERM for 1 s, p${percent}`,
      value: percentile(times, percent),
      unit: 'ms',
      ...(percent === 99 ? { target: atMost(2_000) } : {}),
    }
}

async function cancelOnce(farm: TestCluster, folder: string, target: string): Promise<number> {
  const { run_uuid: uuid } = await post(farm, { module: 'tree', target, params: { folder } })
  await until('the tree has grown', () => pidsOf(folder, target).length === PROCESSES)
  const ms = await timeMs(() => farm.client.delete(`/runs/${uuid}`))
  const left = pidsOf(folder, target).filter(lives)
  if (left.length > 0) throw new Error(`processes ${left.join(', ')} of ${target} outlive its cancel`)
  return ms
}
