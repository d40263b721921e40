import { expect } from '@jest/globals'
import { audit, type Expected } from './audit.ts'
import type { Client } from './client.ts'
import { jobEnded, submit, targets, type RunRow } from './jobs.ts'
import { until, type TestCluster } from './test-cluster.ts'
import { begun, openGate } from './traces.ts'

/** Expects that the audit of a finished job finds no problems, and returns its runs. */
export async function expectExactlyOnce(
  client: Client,
  jobId: string,
  expected: Expected,
): Promise<readonly RunRow[]> {
  const { runs, problems } = await audit(client, jobId, expected)
  expect(problems).toEqual([])
  return runs
}

/** Expects that no worker lost a run. A busy one may put back a run it claimed ahead: an attempt too. */
export async function expectNoneLost(client: Client, runs: readonly RunRow[]): Promise<void> {
  const again = runs.filter(({ attempt }) => attempt > 1)
  const lists = await Promise.all(
    again.map(({ id }) => client.get<{ data: { ending: string }[] }>(`/runs/${id}/attempts`)),
  )
  const earlier = lists.flatMap(({ data }) => data.slice(0, -1))
  expect(earlier.filter(({ ending }) => ending !== 'handed_back')).toEqual([])
}

/** Expects that a critical run starts before `lowRuns` queued runs of low priority when one of the `slots` is free. */
export async function expectOvertaking(cluster: TestCluster, slots: number, lowRuns: number): Promise<void> {
  const [folder, blocked] = [await cluster.traces(), await cluster.traces()]
  const busy = await submit(cluster.client, {
    module: 'gate',
    targets: targets(slots, 'busy'),
    params: { folder },
  })
  await until('all slots are busy', () => begun(folder).length === slots)
  const sent = await cluster.messagesSent()
  // The low ones never end: if they took all slots before the critical one, it would never start.
  const low = await submit(cluster.client, {
    module: 'gate',
    targets: targets(lowRuns, 'low'),
    priority: 'low',
    params: { folder: blocked },
  })
  const critical = await submit(cluster.client, {
    module: 'noop',
    targets: ['first.test'],
    priority: 'critical',
  })
  await until('all messages wait', async () => (await cluster.messagesSent()) - sent > lowRuns)
  await openGate(folder)
  expect((await jobEnded(cluster.client, critical)).completed).toBe(1)
  await jobEnded(cluster.client, busy)
  await cluster.client.post(`/jobs/${low}/cancel`)
  expect(await jobEnded(cluster.client, low)).toMatchObject({ cancelled: lowRuns, completed: 0, failed: 0 })
  expect(begun(blocked).length).toBeLessThanOrEqual(slots)
}
