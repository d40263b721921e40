import { beforeAll, expect, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import type { FindingContent, FoundRecords } from '@scanfarm/contracts'
import { asSuperuser, openTransactionsEnded, testDatabase } from './database.ts'
import {
  claimAll,
  closedStep,
  ended,
  findingOf,
  joined,
  keyOf,
  submitted,
  take,
  targets,
} from './fixtures.ts'

const db = forAllTests(testDatabase)
let workerId: string
beforeAll(async () => {
  workerId = await joined(db.runStore)
})

const eventsOf = async (topic: string) => {
  const { data } = await db.store.events.list({ topic }, { offset: 0, limit: 100 })
  return data.map((event) => ({ ...event, data: JSON.parse(event.data) as Record<string, unknown> }))
}

const sees = (...found: [name: string, severity: FindingContent['severity']][]): FoundRecords => ({
  step: 'import',
  workspace: 'w',
  source: 'workflow',
  errors: 0,
  records: {
    kind: 'vulnerability',
    items: found.map(([name, severity]) => findingOf({ vuln_info: name, vuln_title: name, severity })),
  },
})

interface Execution {
  readonly judged?: boolean
  readonly workspace?: string
  readonly status?: 'completed' | 'failed' | 'cancelled'
}

/** Executes all runs of a job in one workspace and judges their scans unless `judged` is false. */
const execute = async (
  job: Parameters<typeof submitted>[1],
  records: readonly FoundRecords[],
  { judged = true, workspace = 'w', status = 'completed' }: Execution = {},
): Promise<string> => {
  const { jobId } = await submitted(db.store, job, [{ target: 'a.test', workspace }])
  const [run] = await claimAll(db.store, db.runStore, workerId)
  if (run === undefined) throw new Error('nothing was claimed')
  for (const one of records) await db.runStore.importRecords(keyOf(run), { ...one, workspace })
  await db.runStore.record([{ ...keyOf(run), steps: [closedStep(1)] }])
  await db.runStore.finish([ended(run, status)])
  if (judged) await judge()
  return jobId
}

const judge = () => db.store.scans.judge({ limit: 100, history: 3 })
const settle = () => db.store.jobs.settle(0, 100)

test('A job writes one event when it ends, which counts its runs, and the findings that are new, back and gone', async () => {
  const first = await execute({}, [sees(['a', 'high'], ['b', 'high'], ['c', 'low'])], { judged: false })
  await settle()
  expect(await eventsOf('job.ended')).toEqual([])
  await judge()
  expect(await settle()).toMatchObject({ counted: 1 })
  expect(await settle()).toMatchObject({ counted: 0 })
  const second = await execute({}, [sees(['b', 'high'])])
  await settle()
  const third = await execute({}, [sees(['a', 'high'], ['b', 'high'], ['d', 'critical'])])
  await settle()
  expect((await eventsOf('job.ended')).reverse()).toMatchObject([
    {
      source: 'executor',
      data_type: 'job',
      workspace: 'w',
      workflow_name: 'probe',
      data: {
        job_id: first,
        workflow: 'probe',
        runs: { total: 1, completed: 1, failed: 0, cancelled: 0, nothing_done: 1 },
        findings: { new: { high: 2, low: 1 }, back: {}, gone: {} },
        path: `/jobs/${first}`,
        worst: [
          { kind: 'new', severity: 'high', title: expect.stringMatching(/^[ab]$/), place: 'a.test' },
          { kind: 'new', severity: 'high' },
          { kind: 'new', severity: 'low', title: 'c' },
        ],
        unclean: [{ target: 'a.test', status: 'completed', outcome: 'nothing_done', reason: '' }],
        is_cancelled: false,
      },
    },
    { data: { job_id: second, findings: { new: {}, back: {}, gone: { high: 1, low: 1 } }, worst: [] } },
    {
      data: {
        job_id: third,
        findings: { new: { critical: 1 }, back: { high: 1 }, gone: {} },
        worst: [
          { kind: 'new', severity: 'critical', title: 'd' },
          { kind: 'back', severity: 'high', title: 'a' },
        ],
      },
    },
  ])
  expect(await eventsOf('schedule.ended')).toEqual([])
  // A false positive that comes and goes is not counted.
  const { data } = await db.store.vulnerabilities.list({ workspace: ['w'] }, { offset: 0, limit: 10 })
  expect(data.find(({ vuln_info: name }) => name === 'c')?.seen_reason).toMatch(
    /^check c of module probe reached a\.test in run \d+$/,
  )
  const ids = data.filter(({ vuln_info: name }) => name === 'a').map(({ id }) => id)
  await db.store.triage.change(ids, { verdict: 'false_positive', reason: 'a test page' }, 'user:ann')
  await execute({}, [sees(['b', 'high'], ['d', 'critical'])])
  await settle()
  const nothing = { new: {}, back: {}, gone: {}, not_tested: {} }
  expect((await eventsOf('job.ended'))[0]?.data['findings']).toEqual(nothing)
})

const addSchedule = (id: string, name: string) =>
  db.sql(
    `insert into schedules (id, name, workflow_name, workflow_kind, target, workspace, params, trigger_type,
        schedule, event_topic, watch_path, spec, is_enabled)
        values ($1, $2, 'probe', 'flow', 'a.test', 'w', '{}', 'cron', '0 3 * * *', '', '', '{}', true)`,
    [id, name],
  )

test('A job of a schedule also ends its schedule, which is named', async () => {
  await addSchedule('sch_1', 'nightly')
  const jobId = await execute({ scheduleId: 'sch_1', triggerType: 'cron', triggerName: 'nightly' }, [])
  await settle()
  expect(await eventsOf('schedule.ended')).toMatchObject([
    {
      name: 'nightly',
      source: 'scheduler',
      data_type: 'schedule',
      data: { job_id: jobId, schedule_id: 'sch_1', schedule: 'nightly', trigger_type: 'cron' },
    },
  ])
})

interface Count {
  readonly kind: string
  readonly label: string
  readonly count: number
}

const series = async (): Promise<readonly Count[]> =>
  await asSuperuser(async (client) => {
    const { rows } = await client.query<Count>(`select kind, label, sum(count)::int as count from farm_series
      where label in ('cancelled', 'crowd') group by 1, 2 order by 1, 2`)
    return rows
  }, db.url)

test('The cancel of a job is one event, and one of each run that had started', async () => {
  const { jobId } = await submitted(db.store, { workflowName: 'crowd' }, targets(40))
  const [run] = await db.runStore.claim(workerId, await take(db.store, { limit: 1 }))
  if (run === undefined) throw new Error('nothing was claimed')
  await db.store.jobs.requestCancel(jobId)
  while ((await db.store.jobs.finishCancel()) !== undefined);
  await db.runStore.finish([ended(run, 'cancelled')])
  await openTransactionsEnded(db.url)
  while (await db.store.figures.count());
  await settle()
  const about = (topic: string) =>
    eventsOf(topic).then((events) => events.filter(({ data }) => data['job_id'] === jobId))
  expect(await about('run.failed')).toEqual([])
  expect(await about('run.cancelled')).toMatchObject([{ run_id: run.runUuid, data: { status: 'cancelled' } }])
  expect(await about('job.ended')).toMatchObject([
    { data: { is_cancelled: true, outcome: 'nothing_done', runs: { total: 40, cancelled: 40 } } },
  ])
  expect(await series()).toEqual([
    { kind: 'run', label: 'cancelled', count: 40 },
    { kind: 'workflow', label: 'crowd', count: 40 },
  ])
})

test('What a job changed stays as it was when it ended, whatever scans see and people decide later', async () => {
  const scan = (found: readonly FoundRecords[], rest: Execution = {}) =>
    execute({}, found, { workspace: 'past', ...rest })
  const jobs = [
    await scan([sees(['a', 'high'], ['b', 'low'], ['c', 'critical'], ['d', 'medium'])]),
    await scan([sees(['a', 'high'], ['d', 'medium'])]),
    await scan([sees(['c', 'critical'])], { status: 'failed' }),
  ]
  await settle()
  const said = async () =>
    await Promise.all(
      jobs.map(async (job) => {
        const { counts, findings } = (await db.store.nights.changes(job, undefined, 10)) ?? {}
        const shown = Object.values(findings ?? {}).map((list) =>
          list.map(({ id, severity, seen, seen_reason: why }) => [id, severity, seen, why]),
        )
        const { ages, issues } = (await db.store.reports.read(job)) ?? {}
        return { counts, shown, ages, open: issues?.map(({ title, places }) => [title, places]) }
      }),
    )
  const before = await said()
  expect(before.map(({ counts }) => counts)).toEqual([
    { new: { critical: 1, high: 1, medium: 1, low: 1 }, back: {}, gone: {}, not_tested: {} },
    { new: {}, back: {}, gone: { critical: 1, low: 1 }, not_tested: {} },
    { new: {}, back: { critical: 1 }, gone: {}, not_tested: { high: 1, medium: 1 } },
  ])
  expect((await eventsOf('job.ended'))[0]?.data['findings']).toEqual(before[2]?.counts)
  const records = async () =>
    (await db.store.vulnerabilities.list({ workspace: ['past'] }, { offset: 0, limit: 10 })).data
  const idsOf = async (name: string) =>
    (await records()).filter(({ vuln_info: check }) => check === name).map(({ id }) => id)
  expect(before[2]?.shown[3]?.map(([, , ...why]) => why)).toEqual([
    ['not_tested', expect.stringMatching(/: the run failed$/)],
    ['not_tested', expect.stringMatching(/: the run failed$/)],
  ])
  await db.store.triage.change(await idsOf('b'), { severity: 'info' }, 'user:ann')
  await scan([sees(['c', 'critical'])], { status: 'cancelled' })
  expect((await records()).map(({ seen_reason: why }) => why)).toContainEqual(
    expect.stringMatching(/: the run was cancelled$/),
  )
  await scan([sees(['c', 'low'], ['d', 'high'], ['e', 'low'])])
  await settle()
  expect(await said()).toEqual(before)
  await db.store.triage.change(
    await idsOf('a'),
    { verdict: 'false_positive', reason: 'a test page' },
    'user:ann',
  )
  expect((await records()).map(({ severity, seen }) => `${severity} ${seen}`).sort()).toEqual([
    'high gone',
    'high open',
    'info gone',
    'low open',
    'low open',
  ])
  // Of what was open then, a report leaves out what is a false positive today.
  const kept = before.map(({ counts, shown }) => ({ counts, shown }))
  expect(await said()).toMatchObject(kept)
  expect((await said()).map(({ open }) => open?.length)).toEqual([3, 1, 2])
})

test('A job whose run failed before its scan ends when it is known what was not tested', async () => {
  const seen = await execute({}, [sees(['x', 'high'])], { workspace: 'late' })
  await settle()
  const failed = await execute({}, [], { workspace: 'late', status: 'failed', judged: false })
  const last = async () => (await eventsOf('job.ended'))[0]?.data
  expect(await settle()).toMatchObject({ counted: 0 })
  expect(await last()).toMatchObject({ job_id: seen })
  await judge()
  await settle()
  expect(await last()).toMatchObject({ job_id: failed, findings: { not_tested: { high: 1 } } })
})

test('A job of mode delta that left all out says what changed since an earlier one', async () => {
  const delta = { fields: { max_age: '7d', full_every: null, turn: 0, full: false }, leftOut: [] }
  const first = await execute({}, [sees(['p', 'high'])], { workspace: 'left' })
  await execute({ delta }, [sees(['q', 'low'])], { workspace: 'left' })
  const { jobId: last } = await submitted(db.store, { delta }, [])
  await settle()
  const changes = async (since?: string) => (await db.store.nights.changes(last, since, 10))?.counts
  expect(await changes(first)).toMatchObject({ new: { low: 1 }, gone: { high: 1 } })
  expect(await changes()).toMatchObject({ new: {}, gone: {} })
})

const SCHEDULED = { scheduleId: 'sch_2', triggerType: 'cron', triggerName: 'weekly' } as const

test('A night has the last two jobs of its schedule, what changed, what is open and what was not tested', async () => {
  await addSchedule('sch_2', 'weekly')
  const scan = (found: readonly FoundRecords[], rest: Execution = {}) =>
    execute(SCHEDULED, found, { workspace: 'night', ...rest })
  const nightOf = async () => (await db.store.nights.of(['sch_2', 'sch_9'])).get('sch_2')
  expect(await nightOf()).toMatchObject({ running: null, last: null, previous: null, workspace: '' })
  const first = await scan([sees(['a', 'high'], ['b', 'low'], ['d', 'critical'])])
  const second = await scan([sees(['b', 'low'], ['c', 'critical'])])
  await settle()
  expect(await nightOf()).toMatchObject({
    running: null,
    last: { job_id: second, outcome: 'nothing_done', is_cancelled: false, target_count: 1, completed: 1 },
    previous: { job_id: first },
    findings: { new: { critical: 1 }, back: {}, gone: { critical: 1, high: 1 } },
    open: { critical: 1, low: 1 },
    not_tested: 0,
    workspace: 'night',
    workspace_count: 1,
  })
  const titles = (found: readonly { vuln_title: string }[] | undefined) => found?.map((one) => one.vuln_title)
  const changed = await db.store.nights.changes(second, undefined, 1)
  expect(changed?.counts).toEqual({
    new: { critical: 1 },
    back: {},
    gone: { critical: 1, high: 1 },
    not_tested: {},
  })
  expect(titles(changed?.findings.gone)).toEqual(['d'])
  // What was gone and is back did not change since the first night.
  const third = await scan([sees(['a', 'high'], ['b', 'low'], ['c', 'critical'])])
  const failed = await scan([sees()], { status: 'failed' })
  const { jobId: open } = await submitted(db.store, SCHEDULED, [{ target: 'a.test', workspace: 'night' }])
  await settle()
  expect((await db.store.nights.changes(third, undefined, 10))?.counts.back).toEqual({ high: 1 })
  const since = await db.store.nights.changes(failed, first, 10)
  expect(since?.counts).toEqual({
    new: { critical: 1 },
    back: {},
    gone: { critical: 1 },
    not_tested: { critical: 1, high: 1, low: 1 },
  })
  expect(titles(since?.findings.not_tested)).toEqual(['c', 'a', 'b'])
  expect(await nightOf()).toMatchObject({
    running: { job_id: open },
    last: { job_id: failed, failed: 1 },
    previous: { job_id: third },
    not_tested: 3,
  })
  const [, falsePositive] = since?.findings.not_tested ?? []
  const verdict = { verdict: 'false_positive', reason: 'a test page' } as const
  await db.store.triage.change([falsePositive?.id ?? 0], verdict, 'user:ann')
  // The next night tests one of them, which does not change the last one.
  const [running] = await claimAll(db.store, db.runStore, workerId)
  if (running === undefined) throw new Error('nothing was claimed')
  await db.runStore.importRecords(keyOf(running), { ...sees(['c', 'critical']), workspace: 'night' })
  expect(await nightOf()).toMatchObject({ open: { critical: 1, low: 1 }, not_tested: 3 })
  const { counts } = (await db.store.nights.changes(failed, undefined, 10)) ?? {}
  expect(counts?.not_tested).toEqual({ critical: 1, high: 1, low: 1 })
  expect(await db.store.nights.changes('0000000000000000', undefined, 1)).toBeUndefined()
  expect(await db.store.nights.changes(failed, '0000000000000000', 1)).toBeUndefined()
  const { data } = await db.store.jobs.list({}, { limit: 2 })
  expect(data.map(({ job_id: id, outcome }) => [id, outcome])).toEqual([
    [open, null],
    [failed, 'nothing_done'],
  ])
})
