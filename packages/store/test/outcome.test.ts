import { beforeEach, describe, expect, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { NO_WORK, outcomeOf, type ClaimedRun, type RunOutcome, type RunTally } from '@scanfarm/contracts'
import { asSuperuser, testDatabase } from './database.ts'
import { claimAll, closedStep, ended, joined, keyOf, step, submitted, targets, wipe } from './fixtures.ts'

const db = forAllTests(testDatabase)
let workerId: string
beforeEach(async () => {
  await wipe(db.url)
  workerId = await joined(db.runStore)
})
const sql = (text: string, values: unknown[] = []) => db.sql<{ found: unknown }>(text, values)

const running = async (count = 1): Promise<ClaimedRun[]> => {
  await submitted(db.store, {}, targets(count))
  return claimAll(db.store, db.runStore, workerId)
}
const one = async (): Promise<ClaimedRun> => {
  const [run] = await running()
  if (run === undefined) throw new Error('nothing claimed')
  return run
}
const find = ({ runUuid }: { runUuid: string }) => db.store.runs.find(runUuid)

const WORKED: RunTally = { ...NO_WORK, worked: true }
const REASON = 'module web left out: required command not found: httpx'
const LEFT_OUT: RunTally = { ...WORKED, leftOutModules: 1, reasons: [REASON] }

test('SQL and contracts have the same rule for the outcome', async () => {
  for (const status of ['completed', 'failed', 'cancelled'] as const)
    for (let bits = 0; bits < 16; bits += 1) {
      const tally: RunTally = {
        worked: (bits & 1) > 0,
        failedSteps: bits & 2,
        leftOutModules: bits & 4,
        leftOutSteps: bits & 8,
        reasons: [],
      }
      const { rows } = await sql('select run_outcome($1, $2) as found', [status, JSON.stringify(tally)])
      expect([status, tally, rows[0]?.found]).toEqual([status, tally, outcomeOf(status, tally)])
    }
  const { rows } = await sql("select run_outcome('completed', null) as found")
  expect(rows[0]?.found).toBe('nothing_done')
})

describe('the outcome of a run', () => {
  test('A run has no outcome until it ends; then its last report decides', async () => {
    const run = await one()
    await db.runStore.record([{ ...keyOf(run), tally: WORKED }])
    expect(await find(run)).toMatchObject({ status: 'running', outcome: '', left_out_modules: 0 })
    await db.runStore.finish([ended(run, 'completed', { tally: LEFT_OUT })])
    expect(await find(run)).toMatchObject({
      status: 'completed',
      outcome: 'partial',
      failed_steps: 0,
      left_out_modules: 1,
      left_out_steps: 0,
      outcome_reasons: [REASON],
    })
    const { rows } = await sql("select data::json as found from event_logs where topic = 'run.completed'")
    expect(rows[0]?.found).toMatchObject({
      outcome: 'partial',
      failed_steps: 0,
      left_out_modules: 1,
      left_out_steps: 0,
      outcome_reasons: [REASON],
    })
  })

  test.each<[string, RunTally, RunOutcome]>([
    ['that worked', WORKED, 'partial'],
    ['that did not work', NO_WORK, 'nothing_done'],
  ])(
    'The outcome of a forced cancel of a run %s follows from its last report',
    async (_name, tally, outcome) => {
      const run = await one()
      await db.runStore.record([
        { ...keyOf(run), tally, steps: [closedStep(1, { status: 'failed' }), step(2)] },
      ])
      await db.store.runs.requestCancel(run.runUuid)
      await db.store.runs.forceCancel(run.runId, 0)
      expect(await find(run)).toMatchObject({ status: 'cancelled', outcome, failed_steps: 1 })
    },
  )

  test('The running step of a lost run counts as failed', async () => {
    const run = await one()
    await db.runStore.record([{ ...keyOf(run), tally: WORKED, steps: [closedStep(1), step(2)] }])
    await sql(
      `select end_runs(jsonb_build_array(jsonb_build_object('id', ${run.runId}, 'status', 'failed', 'error', 'lost')))`,
    )
    expect(await find(run)).toMatchObject({ status: 'failed', outcome: 'partial', failed_steps: 1 })
  })

  test('Each attempt begins with an empty tally', async () => {
    const run = await one()
    await db.runStore.record([{ ...keyOf(run), tally: LEFT_OUT }])
    await db.runStore.handBack([keyOf(run)])
    const [again] = await claimAll(db.store, db.runStore, workerId)
    if (again === undefined) throw new Error('nothing claimed')
    expect(await find(again)).toMatchObject({ left_out_modules: 0, outcome_reasons: [] })
    await db.runStore.finish([ended(again, 'completed')])
    expect(await find(again)).toMatchObject({ outcome: 'nothing_done' })
  })

  test('A run that is cancelled before it starts, or before it is created, has the outcome nothing_done', async () => {
    const { jobId, runIds } = await submitted(db.store, {}, targets(2))
    await db.store.jobs.requestCancel(jobId)
    for (const id of runIds)
      expect(await db.store.runs.find(String(id))).toMatchObject({
        status: 'cancelled',
        outcome: 'nothing_done',
      })
    const large = await submitted(db.store, {}, targets(100_001))
    await db.store.jobs.requestCancel(large.jobId)
    expect((await db.store.jobs.report(large.jobId))?.counts).toMatchObject({
      cancelled: 100_001,
      outcomes: { nothing_done: 100_001 },
    })
    await db.store.jobs.expandOnce()
    const { data } = await db.store.runs.list({ jobId: large.jobId }, { offset: 0, limit: 1 })
    expect(data).toMatchObject([{ status: 'cancelled', outcome: 'nothing_done' }])
  })
})

test('Runs are listed by their outcome, and their job counts each outcome', async () => {
  const runs = await running(4)
  const tallies = [WORKED, LEFT_OUT, NO_WORK]
  await db.runStore.finish(
    tallies.flatMap((tally, n) => {
      const run = runs[n]
      return run === undefined ? [] : [ended(run, 'completed', { tally })]
    }),
  )
  const page = { offset: 0, limit: 10 }
  const targetsOf = async (filter: Parameters<typeof db.store.runs.list>[0]) => {
    const found = await db.store.runs.list(filter, page)
    expect(found.total).toBe(found.data.length)
    return found.data.map((run) => `${run.target} ${run.outcome}`)
  }
  expect(await targetsOf({ outcomes: ['partial'] })).toEqual(['host-1.test partial'])
  expect(await targetsOf({ outcomes: ['clean', 'nothing_done'] })).toEqual([
    'host-2.test nothing_done',
    'host-0.test clean',
  ])
  expect(await targetsOf({ outcomes: ['partial'], status: 'failed' })).toEqual([])
  expect(await targetsOf({ outcomes: ['partial'], workflowName: 'probe' })).toEqual(['host-1.test partial'])
  const job = await db.store.jobs.status(runs[0]?.jobId ?? '')
  expect(job).toMatchObject({ completed: 3, running: 1, outcomes: { clean: 1, partial: 1, nothing_done: 1 } })
  expect(job?.runs.map(({ outcome }) => outcome)).toEqual(['clean', 'partial', 'nothing_done', ''])
})

test('An index finds the unclean runs among many clean ones', async () => {
  const { rows } = await asSuperuser(async (client) => {
    await client.query(`insert into runs (run_uuid, job_no, workflow_name, run_mode, status, target, workspace,
      completed_at, outcome)
      select gen_random_uuid(), 0, 'w', 'local', 'completed', 't', 't', now(),
             case when n % 5000 = 0 then 'partial' else 'clean' end from generate_series(1, 20000) n`)
    await client.query('analyze runs')
    return client.query<{ 'QUERY PLAN': string }>(
      "explain (costs off) select id from runs where outcome = 'partial' order by id desc limit 50",
    )
  }, db.url)
  expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toContain('runs_unclean')
})
