import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import { openArtifactStore } from '@scanfarm/artifacts'
import { silentLogger } from '@scanfarm/platform'
import { startRedis } from '@scanfarm/queue/testing'
import { freePort } from '@scanfarm/runners/testing'
import { migrate } from '@scanfarm/store'
import { asSuperuser, emptyDatabase } from '@scanfarm/store/testing'
import { startWorker, type RunningWorker } from '@scanfarm/worker'
import { eventually, freshName, openBench, TEST_MS, type Bench } from './bench.ts'

jest.setTimeout(TEST_MS)

const overrides = { log: silentLogger }

describe.each(['redis', 'postgres'] as const)('With a queue on %s', (kind) => {
  let bench: Bench
  let worker: RunningWorker
  beforeAll(async () => {
    bench = await openBench(kind)
    worker = await startWorker(bench.config(), overrides)
  })
  afterAll(async () => {
    await worker[Symbol.asyncDispose]()
    await bench[Symbol.asyncDispose]()
  })

  test('runs are taken from it, executed and recorded with exact counters', async () => {
    const targets = Array.from({ length: 60 }, freshName)
    const runIds = await bench.submit(
      [
        { name: 'one', command: 'echo {{Target}}' },
        { name: 'two', command: 'true' },
      ],
      targets,
    )
    for (const [index, runId] of runIds.entries()) {
      const run = await bench.ended(runId)
      expect(run).toMatchObject({ status: 'completed', attempt: 1, total_steps: 2, completed_steps: 2 })
      const steps = (await bench.store.runs.steps(String(runId)))?.data
      expect(steps).toMatchObject([
        { output: `${targets[index]}\n`, status: 'completed' },
        { status: 'completed' },
      ])
    }
    expect(await bench.queue.waiting('')).toEqual({ critical: 0, high: 0, normal: 0, low: 0 })
  })

  test('a long log can be read from the artifact store', async () => {
    const [runId = 0] = await bench.submit([{ name: 'loud', command: 'seq 1 10000' }], [freshName()])
    await bench.ended(runId)
    const [step] = (await bench.store.runs.steps(String(runId)))?.data ?? []
    const log = await bench.store.runs.stepLog(String(runId), step?.id ?? '')
    const { folder } = bench.config().artifacts
    await using artifacts = openArtifactStore({ kind: 'folder', folder })
    const found = await artifacts.get(log?.storeKey ?? '')
    expect(found && (await text(found.body)).split('\n').slice(-3)).toEqual(['9999', '10000', ''])
  })

  test('a cancel signal ends the run only when Postgres has the request', async () => {
    const target = freshName()
    const [runId = 0] = await bench.submit(
      [{ name: 'slow', command: 'echo up > {{Output}}/up; sleep 300' }],
      [target],
    )
    await bench.written(target, 'up')
    const beats = async () => {
      const { data } = await bench.store.workers.list()
      return data.map(({ last_heartbeat: at }) => Date.parse(at))
    }
    const before = Math.max(...(await beats()))
    await bench.queue.publishCancel([{ runId }])
    await eventually('another heartbeat', async () =>
      Math.max(...(await beats())) > before ? true : undefined,
    )
    expect(await bench.run(runId)).toMatchObject({ status: 'running' })
    await bench.store.runs.requestCancel(String(runId))
    await bench.queue.publishCancel([{ runId }])
    expect(await bench.ended(runId)).toMatchObject({ status: 'cancelled' })
  })

  test('a message for a run that is cancelled already is dropped', async () => {
    const [runId = 0] = await bench.submit([{ name: 'noop', command: 'true' }], [freshName()], {
      concurrency: 1,
    })
    await bench.ended(runId)
    await bench.queue.add([{ runId, epoch: 0, priority: 'normal', requirementClass: '' }])
    await eventually('an empty queue', async () =>
      (await bench.queue.waiting('')).normal === 0 ? true : undefined,
    )
    expect(await bench.run(runId)).toMatchObject({ status: 'completed', attempt: 1 })
  })
})

describe('A worker', () => {
  let bench: Bench
  beforeAll(async () => {
    bench = await openBench()
  })
  afterAll(async () => {
    await bench[Symbol.asyncDispose]()
  })

  test('says how it is over HTTP, and is gone from the farm when it stops', async () => {
    const port = String(await freePort())
    const worker = await startWorker(bench.config({ SCANFARM_WORKER_HEALTH_PORT: port }), overrides)
    const get = (path: string) => fetch(`${worker.healthUrl}${path}`)
    expect(await (await get('/health')).json()).toEqual({ status: 'ok' })
    await eventually('readiness', async () => ((await get('/health/ready')).ok ? true : undefined))
    expect(await (await get('/metrics')).text()).toMatch(/^scanfarm_worker_slots 4$/m)
    const [runId = 0] = await bench.submit([{ name: 'noop', command: 'true' }], [freshName()])
    await bench.ended(runId)
    const ends = await eventually('a counted end', async () => {
      const text = await (await get('/metrics')).text()
      return text.includes('runs_ended_total{') ? text : undefined
    })
    expect(ends).toMatch(/^scanfarm_worker_runs_ended_total\{ending="completed"\} 1$/m)
    expect(ends).toMatch(/^scanfarm_worker_run_outcomes_total\{outcome="clean"\} 1$/m)
    expect((await get('/else')).status).toBe(404)
    expect((await bench.store.workers.list()).data).toMatchObject([{ name: 'under-test', slots: 4 }])
    expect((await bench.store.workers.liveCapabilities()).flat()).toContain('tool:sh')
    await worker[Symbol.asyncDispose]()
    expect((await bench.store.workers.list()).data).toEqual([])
    await expect(fetch(`http://127.0.0.1:${port}/health`)).rejects.toThrow()
  })

  test('waits for a database that no master has prepared, until it is told to stop', async () => {
    await using database = await emptyDatabase()
    const stop = new AbortController()
    const waiting = startWorker(bench.config({ DATABASE_URL: database.url }), {
      log: {
        ...silentLogger,
        warn: () => stop.abort(),
        child: () => ({ ...silentLogger, warn: () => stop.abort() }),
      },
      stopping: stop.signal,
    })
    await expect(waiting).rejects.toThrow(/abort/i)
  })

  test('refuses a database whose schema is newer than this program', async () => {
    await using database = await emptyDatabase()
    await migrate({ url: database.url })
    const future = `insert into kysely_migration (name, timestamp) values ('9999-future', '2099')`
    await asSuperuser((client) => client.query(future), database.url)
    await expect(startWorker(bench.config({ DATABASE_URL: database.url }), overrides)).rejects.toThrow(
      /migrated by a newer Scanfarm: its schema is 9999-future/,
    )
  })

  test('needs no more of the database than the role of workers may do', async () => {
    const url = new URL(bench.databaseUrl)
    const role = `worker_${url.pathname.slice(-12)}`
    await asSuperuser((client) =>
      client.query(`create role ${role} login password 'test' in role scanfarm_worker`),
    )
    url.username = role
    url.password = 'test'
    const worker = await startWorker(bench.config({ DATABASE_URL: url.href }), overrides)
    const [runId = 0] = await bench.submit([{ name: 'noop', command: 'echo fine' }], [freshName()])
    expect(await bench.ended(runId)).toMatchObject({ status: 'completed', completed_steps: 1 })
    await worker[Symbol.asyncDispose]()
    await asSuperuser((client) => client.query(`drop role ${role}`))
  })

  test('refuses a Redis that may drop messages, and says what to set', async () => {
    await using redis = await startRedis(['--maxmemory-policy', 'allkeys-lru'])
    await expect(startWorker(bench.config({ REDIS_URL: redis.url }), overrides)).rejects.toThrow(/noeviction/)
  })

  test('refuses an artifact store that it cannot write', async () => {
    const config = bench.config({ SCANFARM_ARTIFACTS_FOLDER: '/dev/null/none' })
    await expect(startWorker(config, overrides)).rejects.toThrow(
      /artifact folder \/dev\/null\/none cannot be written/,
    )
  })

  test('refuses a user for commands that does not exist', async () => {
    if (process.getuid?.() !== 0) return
    const config = bench.config({ SCANFARM_RUNNER_USER: 'no-such-user' })
    await expect(startWorker(config, overrides)).rejects.toThrow(/SCANFARM_RUNNER_USER.*no-such-user/)
  })
})
