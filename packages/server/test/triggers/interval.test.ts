import { expect, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { Scheduler } from '../../src/triggers/scheduler.ts'
import { NEVER, openTriggerHarness } from './_trigger-harness.ts'

const FEEDS = `kind: module
name: feeds
triggers:
  - name: again
    on: cron
    enabled: true
    schedule: "@every 2h"
steps:
  - name: fetch
    type: bash
    command: echo feeds
`

const harness = forAllTests(() => openTriggerHarness({ 'feeds.yaml': FEEDS }))

const at = (time: string): Date => new Date(`2026-03-01T${time}Z`)

test('a trigger with an interval fires that long after its previous execution, once for many masters and without a target', async () => {
  const masters = await Promise.all([harness.master(), harness.master()])
  const schedulers = masters.map((master) => new Scheduler(master, master.store.triggers))
  const runsAt = async (time: string): Promise<number> => {
    await Promise.all(schedulers.map((scheduler) => scheduler.tickOnce(at(time), NEVER)))
    return (await harness.store.runs.list({}, { offset: 0, limit: 9 })).data.length
  }
  expect(await runsAt('10:00:00')).toBe(0)
  expect(await runsAt('11:59:59')).toBe(0)
  expect(await runsAt('12:00:05')).toBe(1)
  expect(await runsAt('14:00:00')).toBe(1)
  expect(await runsAt('14:00:05')).toBe(2)
  const { data } = await harness.store.runs.list({}, { offset: 0, limit: 9 })
  expect(data).toMatchObject([
    { target: '', workspace: 'feeds', trigger_type: 'cron' },
    { target: '', workspace: 'feeds', trigger_type: 'cron' },
  ])
})
