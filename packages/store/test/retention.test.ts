import { randomUUID } from 'node:crypto'
import { beforeEach, expect, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { asSuperuser, testDatabase } from './database.ts'
import {
  claimAll,
  closedStep,
  ended,
  findingOf,
  joined,
  keyOf,
  submitted,
  targets,
  wipe,
} from './fixtures.ts'

const DAYS = 30
const FINDING = findingOf()

const db = forAllTests(testDatabase)
let workerId: string
beforeEach(async () => {
  await wipe(db.url)
  workerId = await joined(db.runStore)
})

const sql = async (text: string): Promise<Record<string, unknown>[]> =>
  asSuperuser(async (client) => (await client.query<Record<string, unknown>>(text)).rows, db.url)

/** Moves the times of all runs back by some days. */
const age = (days: number) =>
  sql(
    `update runs set created_at = created_at - interval '${days} days', completed_at = completed_at - interval '${days} days'`,
  )

const old = async () => (await db.store.retention.oldRuns({ days: DAYS, after: 0, limit: 100 })).ids

/** A job of `size` runs; the first `count` have ended, each with a log and an artifact. */
const jobWith = async (size: number, count: number): Promise<{ jobId: string; runIds: number[] }> => {
  const job = await submitted(db.store, { concurrency: count }, targets(size, randomUUID().slice(0, 8)))
  for (const run of await claimAll(db.store, db.runStore, workerId)) {
    const artifact = {
      id: randomUUID(),
      name: 'report',
      path: 'report.txt',
      type: 'report',
      contentType: 'txt',
      sizeBytes: 1,
      lineCount: 1,
      description: '',
      storeKey: `runs/${run.runId}/report.txt`,
      sha256: '',
    } as const
    const destinations = [{ host: '192.0.2.1', place: 'item' }] as const
    const steps = [closedStep(1, { logFile: `runs/${run.runId}/log` })]
    await db.runStore.record([{ ...keyOf(run), totalSteps: 1, steps, artifacts: [artifact], destinations }])
    await db.runStore.finish([ended(run)])
    if (run.runId === job.runIds[count - 1]) break
  }
  return job
}

test('Runs that ended long ago are listed, with the keys of their objects in the artifact store', async () => {
  const { runIds } = await jobWith(3, 2)
  expect(await old()).toEqual([])
  await age(DAYS + 1)
  expect(await old()).toEqual(runIds.slice(0, 2))
  const id = runIds[0] ?? 0
  const { runUuid, keys } = await db.store.retention.bytesOf(id)
  expect(keys.sort()).toEqual([`runs/${id}/log`, `runs/${id}/report.txt`])
  expect(await db.store.runs.find(String(id))).toMatchObject({ run_uuid: runUuid })
  const page = await db.store.retention.oldRuns({ days: DAYS, after: 0, limit: 1 })
  expect(page).toEqual({ ids: [id], next: id })
})

test('Removing a run removes its records, changes the counts of its job, and removes a job without runs', async () => {
  const other = await jobWith(1, 1)
  const { jobId, runIds } = await jobWith(3, 2)
  await age(DAYS + 1)
  // The list contains a run that has not ended.
  expect(await db.store.retention.removeRuns([...runIds, ...other.runIds], DAYS)).toBe(3)
  const left = { id: runIds[2], status: 'queued' }
  expect((await db.store.runs.list({}, { offset: 0, limit: 10 })).data).toMatchObject([left])
  expect(await db.store.jobs.status(jobId)).toMatchObject({ total_runs: 1, pending: 1, completed: 0 })
  expect(await db.store.jobs.status(other.jobId)).toBeUndefined()
  for (const table of ['steps', 'artifacts', 'destinations'])
    expect(await sql(`select 1 from ${table}`)).toEqual([])
  expect(await db.store.retention.removeRuns(runIds, DAYS)).toBe(0)
})

test('Findings outlive their runs, and a run is kept until its scans are judged', async () => {
  const { runIds } = await submitted(db.store, {}, targets(1))
  const [run] = await claimAll(db.store, db.runStore, workerId)
  if (run === undefined) throw new Error('nothing claimed')
  const records = { kind: 'vulnerability', items: [FINDING] } as const
  await db.runStore.importRecords(keyOf(run), {
    step: 's',
    workspace: 'w',
    source: 'workflow',
    records,
    errors: 0,
  })
  await db.runStore.finish([ended(run)])
  await age(DAYS + 1)
  expect(await old()).toEqual([])
  expect(await db.store.retention.removeRuns(runIds, DAYS)).toBe(0)
  await db.store.scans.judge({ limit: 10, history: 10 })
  expect(await old()).toEqual(runIds)
  expect(await db.store.retention.removeRuns(runIds, DAYS)).toBe(1)
  const { data } = await db.store.vulnerabilities.list({}, { offset: 0, limit: 10 })
  expect(data).toMatchObject([{ vuln_info: 'CVE-1', run_uuid: '', state: 'open' }])
  for (const table of ['observations', 'scans']) expect(await sql(`select 1 from ${table}`)).toEqual([])
})
