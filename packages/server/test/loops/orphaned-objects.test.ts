import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { openArtifactStore } from '@scanfarm/artifacts'
import type { ArtifactStore } from '@scanfarm/contracts'
import { silentLogger } from '@scanfarm/platform'
import { OrphanSweeper } from '../../src/loops/orphaned-objects.ts'
import { openLoopHarness, type LoopHarness } from './_loop-harness.ts'

const NEVER = new AbortController().signal

let harness: LoopHarness
let folder: string
let artifacts: ArtifactStore
beforeAll(async () => {
  harness = await openLoopHarness()
  folder = await mkdtemp(join(tmpdir(), 'scanfarm-stray-'))
  artifacts = openArtifactStore({ kind: 'folder', folder, fsync: false })
})
afterAll(async () => {
  await artifacts[Symbol.asyncDispose]()
  await harness[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const put = async (key: string, hoursAgo = 25): Promise<void> => {
  await artifacts.put(key, Readable.from([Buffer.from('bytes')]))
  const then = new Date(Date.now() - hoursAgo * 3_600_000)
  await utimes(join(folder, key), then, then)
}

const left = async (): Promise<string[]> =>
  (await Array.fromAsync(artifacts.list('runs'))).map(({ key }) => key).sort()

test('an old object without a row is deleted unless its attempt is running', async () => {
  await harness.submit(2)
  const rows = await harness.sql('select id, run_uuid from runs order by id')
  const [ended = '', running = ''] = rows.map((row) => String(row['run_uuid']))
  await harness.sql(
    `update runs set status = 'failed', completed_at = now(), attempt = 2 where run_uuid = '${ended}'`,
  )
  await harness.sql(`update runs set status = 'running', attempt = 2, started_at = now(), worker_id = 'w'
                  where run_uuid = '${running}'`)
  await harness.sql(`insert into artifacts (run_id, attempt, id, name, path, type, content_type, size_bytes, line_count,
      description, store_key, sha256)
    values (${Number(rows[0]?.['id'])}, 1, gen_random_uuid(), 'r', 'r', 'report', 'txt', 5, 1, '', 'runs/${ended}/1/artifacts/a/r.txt', '')`)
  await harness.sql(`insert into steps (run_id, attempt, seq, id, name, type, module, status, command, output, error_message,
      exports, duration_ms, log_file, completed_at)
    values (${Number(rows[0]?.['id'])}, 2, 1, gen_random_uuid(), 's', 'bash', '', 'completed', '', '', '', '{}', 1,
      'runs/${ended}/2/logs/1.log', now())`)
  const kept = [
    `runs/${ended}/1/artifacts/a/r.txt`,
    `runs/${ended}/2/logs/1.log`,
    `runs/${running}/2/artifacts/b/not-yet.txt`,
    `runs/${randomUUID()}/1/artifacts/of-another-farm`,
    'runs/notes.txt',
  ]
  const stray = [
    `runs/${ended}/1/logs/1.log`,
    `runs/${ended}/2/artifacts/c/r.txt`,
    `runs/${running}/1/run-execution.log`,
    `runs/${ended}/1/live/run/0`,
  ]
  for (const key of [...kept, ...stray]) await put(key)
  const young = `runs/${ended}/2/artifacts/d/young.txt`
  await put(young, 23)
  const sweeper = new OrphanSweeper({ artifacts, store: harness.store, log: silentLogger })
  expect(await sweeper.sweepOnce(NEVER)).toBe(stray.length)
  expect(await left()).toEqual([...kept, young].sort())
  // The next pass begins a day later.
  await put(stray[0] ?? '')
  expect(await sweeper.sweepOnce(NEVER)).toBe(0)
})

test('a sweep stops after the current deletion when the server stops', async () => {
  const [{ run_uuid: uuid } = {}] = await harness.sql('select run_uuid from runs order by id limit 1')
  for (const name of ['a', 'b', 'c']) await put(`runs/${String(uuid)}/4/artifacts/${name}`)
  const stop = new AbortController()
  const stopping = {
    list: artifacts.list,
    remove: async (key: string) => {
      stop.abort()
      await artifacts.remove(key)
    },
  }
  const stopped = new OrphanSweeper({ artifacts: stopping, store: harness.store, log: silentLogger })
  expect(await stopped.sweepOnce(stop.signal)).toBe(1)
  const next = new OrphanSweeper({ artifacts, store: harness.store, log: silentLogger })
  expect(await next.sweepOnce(NEVER)).toBeGreaterThanOrEqual(2)
})

test('a sweep checks a part of the store in each turn', async () => {
  const [{ run_uuid: uuid } = {}] = await harness.sql('select run_uuid from runs order by id limit 1')
  const keys = Array.from({ length: 2_600 }, (_, n) => `runs/${String(uuid)}/3/artifacts/${n}`)
  for (const key of keys) await put(key)
  const sweeper = new OrphanSweeper({ artifacts, store: harness.store, log: silentLogger })
  const first = await sweeper.sweepOnce(NEVER)
  expect(first).toBeGreaterThan(1_500)
  expect(first).toBeLessThanOrEqual(2_000)
  await sweeper.sweepOnce(NEVER)
  expect((await left()).filter((key) => keys.includes(key))).toEqual([])
})
