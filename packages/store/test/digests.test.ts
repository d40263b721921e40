import { expect, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { testDatabase } from './database.ts'
import { claimAll, closedStep, ended, findingOf, joined, keyOf, submitted } from './fixtures.ts'

const db = forAllTests(() => testDatabase())

const eventsOf = async (topic: string) => {
  const { data } = await db.store.events.list({ topic }, { offset: 0, limit: 100 })
  return data.map(({ data: text }) => JSON.parse(text) as unknown)
}
const execute = (statement: string) => db.sql(statement)
/** Two masters at the same time. */
const logDigests = () => Promise.all([db.store.nights.logDigests(), db.store.nights.logDigests()])

const scan = async (workerId: string, name: string, severity: 'high' | 'low', count = 1): Promise<void> => {
  await submitted(db.store, {}, [{ target: 'both.test', workspace: name }])
  const [run] = await claimAll(db.store, db.runStore, workerId)
  if (run === undefined) throw new Error('nothing was claimed')
  const items = Array.from({ length: count }, (_, at) =>
    findingOf({ vuln_info: `${name}-${at}`, vuln_title: `${name} ${at}`, severity }),
  )
  const records = { kind: 'vulnerability' as const, items }
  const found = { step: 'import', workspace: name, source: 'workflow' as const, errors: 0, records }
  await db.runStore.importRecords(keyOf(run), found)
  await db.runStore.record([{ ...keyOf(run), steps: [closedStep(1)] }])
  await db.runStore.finish([ended(run)])
}

test('An hour in which jobs ended, and a day with open findings, each have one event, whichever master writes it', async () => {
  await execute(
    `update farm set reminded_at = now() + interval '2 days', digest_until = digest_until - interval '3 hours'`,
  )
  await logDigests()
  expect([...(await eventsOf('findings.digest')), ...(await eventsOf('findings.reminder'))]).toEqual([])
  const workerId = await joined(db.runStore)
  await scan(workerId, 'banner', 'low', 6)
  await scan(workerId, 'telnet', 'high')
  await db.store.scans.judge({ limit: 100, history: 3 })
  await db.store.jobs.settle(0, 100)
  // Later ones are told when their hour is over.
  await execute(`update event_logs set created_at = now() + interval '1 hour'`)
  await execute(`update farm set digest_until = digest_until - interval '3 hours'`)
  await logDigests()
  expect(await eventsOf('findings.digest')).toEqual([])
  await execute(`update event_logs set created_at = now() - interval '2 hours'`)
  await execute(`update vulnerabilities set opened_at = now() - interval '9 days' where severity = 'high'`)
  await execute(`update farm set digest_until = date_trunc('hour', now()) - interval '5 hours',
                                 reminded_at = now() - interval '1 day'`)
  await logDigests()
  await logDigests()
  expect(await eventsOf('findings.digest')).toMatchObject([
    {
      jobs: 2,
      title: expect.stringMatching(/^2 jobs of \d\d:\d\d to \d\d:\d\d UTC$/),
      runs: { total: 2, completed: 2, failed: 0 },
      findings: { new: { high: 1, low: 6 }, back: {}, gone: {} },
      worst: ['high', 'low', 'low', 'low', 'low'].map((severity) => ({ severity, kind: 'new' })),
      unclean: [{ target: 'both.test', outcome: 'nothing_done', jobs: 2 }],
    },
  ])
  expect(await eventsOf('findings.reminder')).toEqual([
    { open: { high: 1, low: 6 }, oldest_days: { high: 9, low: 0 }, path: '/findings' },
  ])
})
