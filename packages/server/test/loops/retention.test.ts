import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { openArtifactStore } from '@scanfarm/artifacts'
import type { ArtifactStore } from '@scanfarm/contracts'
import { silentLogger, startLoops } from '@scanfarm/platform'
import { until } from '@scanfarm/testing'
import { RetentionKeeper, retentionLoops } from '../../src/loops/retention.ts'
import { openLoopHarness, type LoopHarness } from './_loop-harness.ts'

const NEVER = new AbortController().signal
const DAY_MS = 86_400_000

let harness: LoopHarness
let folder: string
let artifacts: ArtifactStore
beforeAll(async () => {
  harness = await openLoopHarness()
  folder = await mkdtemp(join(tmpdir(), 'scanfarm-retention-'))
  artifacts = openArtifactStore({ kind: 'folder', folder })
})
afterAll(async () => {
  await artifacts[Symbol.asyncDispose]()
  await harness[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const put = (key: string) => artifacts.put(key, Readable.from([Buffer.from('bytes')]))
const parts = (runDays: number, uploadDays: number) => ({
  store: harness.store,
  artifacts,
  config: { retention: { runDays, uploadDays } },
  log: silentLogger,
})

test('expired runs are deleted with their objects, a limited number in each turn', async () => {
  const { jobId } = await harness.submit(5_000)
  await harness.sql(`update runs set status = 'cancelled', completed_at = now() - interval '8 days',
                                  created_at = now() - interval '9 days'`)
  await harness.sql(
    `update runs set status = 'queued', completed_at = null where id = (select min(id) from runs)`,
  )
  const [second] = await harness.sql('select id from runs order by id offset 1 limit 1')
  await put('runs/x/report.txt')
  await harness.sql(`insert into artifacts (run_id, attempt, id, name, path, type, content_type, size_bytes, line_count,
                                         description, store_key, sha256)
    values (${Number(second?.['id'])}, 1, gen_random_uuid(), 'r', 'r', 'report', 'txt', 5, 1, '', 'runs/x/report.txt', '')`)
  const [{ run_uuid: uuid } = {}] = await harness.sql(
    'select run_uuid from runs order by id offset 1 limit 1',
  )
  await put(`runs/${String(uuid)}/1/artifacts/without-row`)
  await writeFile(join(folder, `runs/${String(uuid)}/1/artifacts/of an editor~`), 'bytes')
  const keeper = new RetentionKeeper(parts(7, 0))
  const first = await keeper.removeRuns(NEVER)
  expect(first).toBeLessThan(4_999)
  expect(await artifacts.size('runs/x/report.txt')).toBeUndefined()
  expect(await artifacts.size(`runs/${String(uuid)}/1/artifacts/without-row`)).toBeUndefined()
  expect(first + (await keeper.removeRuns(NEVER))).toBe(4_999)
  expect(await harness.store.jobs.status(jobId)).toMatchObject({ total_runs: 1, pending: 1, cancelled: 0 })
  expect(await new RetentionKeeper(parts(0, 0)).removeRuns(NEVER)).toBe(0)
})

test('expired uploads are deleted and recent ones are kept', async () => {
  await put('uploads/0123456789abcdef-old.txt')
  await put('uploads/0123456789abcdef-new.txt')
  await put('runs/y/old.txt')
  const then = new Date(Date.now() - 8 * DAY_MS)
  for (const key of ['uploads/0123456789abcdef-old.txt', 'runs/y/old.txt'])
    await utimes(join(folder, key), then, then)
  expect(retentionLoops(parts(0, 0))).toEqual([])
  await using _loops = startLoops(retentionLoops(parts(0, 7)), silentLogger)
  await until(async () => (await artifacts.size('uploads/0123456789abcdef-old.txt')) === undefined)
  expect(await artifacts.size('uploads/0123456789abcdef-new.txt')).toBe(5)
  expect(await artifacts.size('runs/y/old.txt')).toBe(5)
})
