import { expect } from '@jest/globals'
import { until, type Farm } from './farm.ts'
import { jobEnded, submit, targets } from './jobs.ts'
import { begun, openGate } from './traces.ts'

/** A critical run submitted behind `lowRuns` low ones, while all of the farm's `slots` are busy, starts next. */
export async function expectOvertaking(farm: Farm, slots: number, lowRuns: number): Promise<void> {
  const [folder, blocked] = [await farm.traces(), await farm.traces()]
  const busy = await submit(farm.client, {
    module: 'gate',
    targets: targets(slots, 'busy'),
    params: { folder },
  })
  await until('all slots are busy', () => begun(folder).length === slots)
  const sent = await farm.messagesSent()
  // Low ones never end: when they take all slots before the critical one, nothing ever starts again.
  const low = await submit(farm.client, {
    module: 'gate',
    targets: targets(lowRuns, 'low'),
    priority: 'low',
    params: { folder: blocked },
  })
  const critical = await submit(farm.client, {
    module: 'noop',
    targets: ['first.test'],
    priority: 'critical',
  })
  await until('all messages wait', async () => (await farm.messagesSent()) - sent > lowRuns)
  await openGate(folder)
  expect((await jobEnded(farm.client, critical)).completed).toBe(1)
  await jobEnded(farm.client, busy)
  await farm.client.post(`/jobs/${low}/cancel`)
  expect(await jobEnded(farm.client, low)).toMatchObject({ cancelled: lowRuns, completed: 0, failed: 0 })
  expect(begun(blocked).length).toBeLessThanOrEqual(slots)
}
