import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import { silentLogger } from '@scanfarm/platform'
import { startRedis } from '@scanfarm/queue/testing'
import { migrate } from '@scanfarm/store'
import { asSuperuser, emptyDatabase } from '@scanfarm/store/testing'
import { startWorker, type RunningWorker } from '@scanfarm/worker'
import { freePort, until } from '@scanfarm/testing'
import { openTestCluster, type TestCluster } from '../harness/workers.ts'
import { TEST_MS, freshName } from '../harness/runs.ts'

jest.setTimeout(TEST_MS)

const overrides = { log: silentLogger }

describe.each(['redis', 'postgres'] as const)('A queue on %s', (kind) => {
  let cluster: TestCluster
  let worker: RunningWorker
  beforeAll(async () => {
    cluster = await openTestCluster(kind)
    worker = await startWorker(cluster.config(), overrides)
  })
  afterAll(async () => {
    await worker[Symbol.asyncDispose]()
    await cluster[Symbol.asyncDispose]()
  })

  test('delivers runs, which are executed and recorded with exact counters', async () => {
    const targets = Array.from({ length: 60 }, freshName)
    const runIds = await cluster.submit(
      [
        { name: 'one', command: 'echo {{Target}}' },
        { name: 'two', command: 'true' },
      ],
      targets,
    )
    for (const [index, runId] of runIds.entries()) {
      const run = await cluster.ended(runId)
      expect(run).toMatchObject({ status: 'completed', total_steps: 2, completed_steps: 2 })
      const steps = (await cluster.store.runs.steps(String(runId)))?.data
      expect(steps).toMatchObject([
        { output: `${targets[index]}\n`, status: 'completed' },
        { status: 'completed' },
      ])
    }
    expect(await cluster.queue.waiting('')).toEqual({ critical: 0, high: 0, normal: 0, low: 0 })
  })

  test('delivers a cancel signal, which ends the run only when Postgres has the request', async () => {
    const target = freshName()
    const [runId = 0] = await cluster.submit(
      [{ name: 'slow', command: 'echo up > {{Output}}/up; sleep 300' }],
      [target],
    )
    await cluster.written(target, 'up')
    const beats = async () => {
      const { data } = await cluster.store.workers.list()
      return data.map(({ last_heartbeat: at }) => Date.parse(at))
    }
    const before = Math.max(...(await beats()))
    await cluster.queue.publishCancel([{ runId }])
    await until(async () => (Math.max(...(await beats())) > before ? true : undefined), {
      what: 'another heartbeat',
    })
    expect(await cluster.run(runId)).toMatchObject({ status: 'running' })
    await cluster.store.runs.requestCancel(String(runId))
    await cluster.queue.publishCancel([{ runId }])
    expect(await cluster.ended(runId)).toMatchObject({ status: 'cancelled' })
  })

  test('delivers a request to pause, and one to resume', async () => {
    const { workers } = cluster.store
    const [joined] = (await workers.list()).data
    const id = joined?.id ?? ''
    const target = freshName()
    const [running = 0] = await cluster.submit(
      [
        {
          name: 'slow',
          command: 'echo up > {{Output}}/up; while test ! -e {{Output}}/go; do sleep 0.1; done',
        },
      ],
      [target],
    )
    await cluster.written(target, 'up')
    expect(await workers.direct(id, 'paused')).toBe('ok')
    await cluster.queue.publishWorkers([id])
    await until(() => worker.status.paused, { what: 'the worker has paused' })
    expect(await workers.find(id)).toMatchObject({ status: 'draining', wanted: 'paused' })
    const [waiting = 0] = await cluster.submit([{ name: 'noop', command: 'true' }], [freshName()])
    await writeFile(join(cluster.folder, 'data/work/workspaces', target, 'go'), '')
    expect(await cluster.ended(running)).toMatchObject({ status: 'completed', attempt: 1 })
    expect(await cluster.run(waiting)).toMatchObject({ status: 'queued' })
    expect(await workers.find(id)).toMatchObject({ status: 'draining', runs: [] })
    expect(await workers.direct(id, 'running')).toBe('ok')
    await cluster.queue.publishWorkers([id])
    expect(await cluster.ended(waiting)).toMatchObject({ status: 'completed', attempt: 1 })
  })

  test('drops the message of a run that is already cancelled', async () => {
    const [runId = 0] = await cluster.submit([{ name: 'noop', command: 'true' }], [freshName()], {
      concurrency: 1,
    })
    await cluster.ended(runId)
    const share = { jobNo: 1, owner: '', weight: 1 }
    await cluster.queue.add([{ runId, epoch: 0, priority: 'normal', requirementClass: '', share }])
    await until(async () => ((await cluster.queue.waiting('')).normal === 0 ? true : undefined), {
      what: 'an empty queue',
    })
    expect(await cluster.run(runId)).toMatchObject({ status: 'completed', attempt: 1 })
  })
})

describe('A worker', () => {
  let cluster: TestCluster
  beforeAll(async () => {
    cluster = await openTestCluster()
  })
  afterAll(async () => {
    await cluster[Symbol.asyncDispose]()
  })

  test('reports its health over HTTP, and leaves the farm when it stops', async () => {
    const port = String(await freePort())
    const worker = await startWorker(cluster.config({ SCANFARM_WORKER_HEALTH_PORT: port }), overrides)
    const get = (path: string) => fetch(`${worker.healthUrl}${path}`)
    expect(await (await get('/health')).json()).toEqual({ status: 'ok' })
    await until(async () => ((await get('/health/ready')).ok ? true : undefined), { what: 'readiness' })
    expect(await (await get('/metrics')).text()).toMatch(/^scanfarm_worker_slots 4$/m)
    const [runId = 0] = await cluster.submit([{ name: 'noop', command: 'true' }], [freshName()])
    await cluster.ended(runId)
    const ends = await until(
      async () => {
        const text = await (await get('/metrics')).text()
        return text.includes('runs_ended_total{') ? text : undefined
      },
      { what: 'a counted end' },
    )
    expect(ends).toMatch(/^scanfarm_worker_runs_ended_total\{ending="completed"\} 1$/m)
    expect(ends).toMatch(/^scanfarm_worker_run_outcomes_total\{outcome="clean"\} 1$/m)
    expect((await get('/else')).status).toBe(404)
    expect((await cluster.store.workers.list()).data).toMatchObject([{ name: 'under-test', slots: 4 }])
    expect((await cluster.store.workers.liveCapabilities()).flat()).toContain('tool:sh')
    await worker[Symbol.asyncDispose]()
    expect((await cluster.store.workers.list()).data).toEqual([])
    await expect(fetch(`http://127.0.0.1:${port}/health`)).rejects.toThrow()
  })

  test('ends as after SIGTERM when an operator drains it, and hands back what exceeds its drain time', async () => {
    const { workers } = cluster.store
    const target = freshName()
    const process = await cluster.spawnWorker({ SCANFARM_WORKER_DRAIN_MS: '200' })
    const [runId = 0] = await cluster.submit(
      [{ name: 'slow', command: 'echo up >> {{Output}}/up; sleep 300' }],
      [target],
    )
    await cluster.written(target, 'up')
    const [joined] = (await workers.list()).data
    const id = joined?.id ?? ''
    // It leaves soon after it has heard of the first request.
    process.send('SIGSTOP')
    expect(await workers.direct(id, 'stopped')).toBe('ok')
    expect(await workers.direct(id, 'running')).toBe('stopping')
    // Without a signal of the queue: the next heartbeat returns the request.
    process.send('SIGCONT')
    expect(await process.ended).toBe(0)
    expect(await cluster.run(runId)).toMatchObject({ status: 'queued', attempt: 1 })
    expect((await workers.list()).data).toEqual([])
    expect(await workers.direct(id, 'paused')).toBe('unknown')
    await cluster.store.runs.requestCancel(String(runId))
  })

  test.each([
    ['its last run ends', 'completed'],
    ['the time is over', 'queued'],
  ])('that an operator drains for a time stops when %s', async (_, status) => {
    const { workers } = cluster.store
    const target = freshName()
    const worker = await startWorker(cluster.config({ SCANFARM_WORKER_DRAIN_MS: '200' }), overrides)
    const stopped = () => Promise.race([worker.stopRequested, Promise.resolve('waiting')])
    const command = 'echo up >> {{Output}}/up; while test ! -e {{Output}}/go; do sleep 0.1; done'
    const [runId = 0] = await cluster.submit([{ name: 'slow', command }], [target])
    await cluster.written(target, 'up')
    const [joined] = (await workers.list()).data
    const id = joined?.id ?? ''
    expect(await workers.direct(id, 'stopped', 3_600_000)).toBe('ok')
    await until(() => (worker.status.paused ? true : undefined), { what: 'the drain' })
    expect(await stopped()).toBe('waiting')
    const [later = 0] = await cluster.submit([{ name: 'noop', command: 'true' }], [freshName()])
    if (status === 'queued') expect(await workers.direct(id, 'stopped', 1)).toBe('ok')
    else await writeFile(join(cluster.folder, 'data/work/workspaces', target, 'go'), '')
    expect(await worker.stopRequested).toBe('stop requested')
    await worker[Symbol.asyncDispose]()
    expect(await cluster.run(runId)).toMatchObject({ status, attempt: 1 })
    expect(await cluster.run(later)).toMatchObject({ status: 'queued', attempt: 0 })
    for (const run of [runId, later]) await cluster.store.runs.requestCancel(String(run))
  })

  test('waits for a database without a schema until it is stopped', async () => {
    await using database = await emptyDatabase()
    const stop = new AbortController()
    const waiting = startWorker(cluster.config({ DATABASE_URL: database.url }), {
      log: {
        ...silentLogger,
        warn: () => stop.abort(),
        child: () => ({ ...silentLogger, warn: () => stop.abort() }),
      },
      stopping: stop.signal,
    })
    await expect(waiting).rejects.toThrow(/abort/i)
  })

  test('refuses a database with a newer schema', async () => {
    await using database = await emptyDatabase()
    await migrate({ url: database.url })
    const future = `insert into schema_files (name) values ('9999-future')`
    await database.sql(future)
    await expect(startWorker(cluster.config({ DATABASE_URL: database.url }), overrides)).rejects.toThrow(
      /migrated by a newer Scanfarm: its schema is 9999-future/,
    )
  })

  test('works with the database role of workers', async () => {
    const url = new URL(cluster.databaseUrl)
    const role = `worker_${url.pathname.slice(-12)}`
    await asSuperuser((client) =>
      client.query(`create role ${role} login password 'test' in role scanfarm_worker`),
    )
    url.username = role
    url.password = 'test'
    const worker = await startWorker(cluster.config({ DATABASE_URL: url.href }), overrides)
    const [runId = 0] = await cluster.submit([{ name: 'noop', command: 'echo fine' }], [freshName()])
    expect(await cluster.ended(runId)).toMatchObject({ status: 'completed', completed_steps: 1 })
    await worker[Symbol.asyncDispose]()
    await asSuperuser((client) => client.query(`drop role ${role}`))
  })

  test('refuses a Redis that may drop messages, with the setting to change', async () => {
    await using redis = await startRedis(['--maxmemory-policy', 'allkeys-lru'])
    await expect(startWorker(cluster.config({ REDIS_URL: redis.url }), overrides)).rejects.toThrow(
      /noeviction/,
    )
  })

  test('refuses an artifact store that it cannot write to', async () => {
    const config = cluster.config({ SCANFARM_ARTIFACTS_FOLDER: '/dev/null/none' })
    await expect(startWorker(config, overrides)).rejects.toThrow(
      /artifact folder \/dev\/null\/none cannot be written/,
    )
  })

  test('refuses a user for commands that does not exist', async () => {
    if (process.getuid?.() !== 0) return
    const config = cluster.config({ SCANFARM_RUNNER_USER: 'no-such-user' })
    await expect(startWorker(config, overrides)).rejects.toThrow(/SCANFARM_RUNNER_USER.*no-such-user/)
  })
})
