import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { TestCluster, Refusal, until } from './test-cluster.ts'
import { jobEnded, readJob, runsOf, submit } from './jobs.ts'

const START_MS = 300_000
const TEST_MS = 120_000

let cluster: TestCluster
let canary = ''
beforeAll(async () => {
  cluster = await TestCluster.start({ workers: 1, slots: 2 })
  canary = join(await cluster.traces(), 'canary')
}, START_MS)
afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]()
}, START_MS)

const outputOf = async (runUuid: string): Promise<string> => {
  const { data } = await cluster.client.get<{ data: { output: string }[] }>(`/runs/${runUuid}/steps`)
  return data.map(({ output }) => output).join('')
}

const printed = async (jobId: string): Promise<string> => {
  await jobEnded(cluster.client, jobId)
  const [run] = await runsOf(cluster.client, jobId)
  expect(run?.status).toBe('completed')
  return outputOf(run?.run_uuid ?? '')
}

const hostile = () => `3 touch ${canary}`
const asArguments = () => `[3 touch ${canary}][3][touch][${canary}]`

test(
  'A param of a shipped flow that does not match its type is refused with 400',
  async () => {
    const params = { wait_seconds: hostile() }
    const body = { flow: 'service-survey', target: '127.0.0.1:9', run_mode: 'distributed', params }
    const refused: unknown = await cluster.client.post('/runs', body).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(Refusal)
    expect(refused).toMatchObject({ status: 400, body: expect.stringContaining('/params/wait_seconds') })
    expect(refused).toMatchObject({ body: expect.stringContaining('expected a whole number from 1 to 60') })
  },
  TEST_MS,
)

test(
  'A param of a caller runs no command, and is only split into words where it is an argument',
  async () => {
    const params = { wait: hostile() }
    const jobId = await submit(cluster.client, { module: 'waiting', targets: ['a.test'], params })
    expect(await printed(jobId)).toBe(asArguments())
    expect(existsSync(canary)).toBe(false)
  },
  TEST_MS,
)

test(
  'A param from the input of an event is quoted like a param of a caller',
  async () => {
    await cluster.client.post('/events/emit', {
      topic: 'custom.wait',
      data: { host: 'event.test', wait: hostile() },
    })
    const run = await until('the run of the event has ended', async () => {
      const path = '/runs?workflow=waiting&status=completed'
      const runs = await cluster.client.all<{ run_uuid: string; target: string }>(path)
      return runs.find(({ target }) => target === 'event.test')
    })
    expect(await outputOf(run.run_uuid)).toBe(asArguments())
    expect(existsSync(canary)).toBe(false)
  },
  TEST_MS,
)

test(
  'An event whose input does not match the type of a param starts no run, and the event log contains the error',
  async () => {
    const emit = (host: string, wait: string) =>
      cluster.client.post('/events/emit', { topic: 'custom.count', data: { host, wait } })
    await emit('bad.test', hostile())
    await emit('good.test', '4')
    await until('the run of the other event has ended', async () => {
      const runs = await cluster.client.all<{ target: string }>('/runs?workflow=counting&status=completed')
      return runs.length > 0
    })
    const runs = await cluster.client.all<{ target: string }>('/runs?workflow=counting')
    expect(runs.map(({ target }) => target)).toEqual(['good.test'])
    const logged = await cluster.client.all<{ data: string; error: string }>('/event-logs?topic=custom.count')
    const entry = logged.find(({ data }) => data.includes('bad.test'))
    expect(entry?.error).toContain('params/wait: "3 touch')
    expect(existsSync(canary)).toBe(false)
  },
  TEST_MS,
)

test(
  'A param of a schedule is quoted like a param of a caller, and is refused when it does not match its type',
  async () => {
    const base = { schedule: '0 3 * * *', target: 'clock.test', params: { wait: hostile() } }
    const refused = cluster.client.post('/schedules', { ...base, name: 'bad', workflow_name: 'counting' })
    await expect(refused).rejects.toMatchObject({
      status: 400,
      body: expect.stringContaining('/params/wait'),
    })
    const { data } = await cluster.client.post<{ data: { id: string } }>('/schedules', {
      ...base,
      name: 'good',
      workflow_name: 'waiting',
    })
    const fired = await cluster.client.post<{ job_id: string }>(`/schedules/${data.id}/trigger`)
    expect(await printed(fired.job_id)).toBe(asArguments())
    expect((await readJob(cluster.client, fired.job_id)).failed).toBe(0)
    expect(existsSync(canary)).toBe(false)
  },
  TEST_MS,
)

test(
  'With workflows.strict_params on the worker, a param without a type is one word everywhere',
  async () => {
    await Promise.all(cluster.workers.map((worker) => worker.stop()))
    await cluster.startWorker('strict', { SCANFARM_WORKFLOWS_STRICT_PARAMS: 'true' })
    const params = { wait: 'a b' }
    const jobId = await submit(cluster.client, { module: 'waiting', targets: ['strict.test'], params })
    expect(await printed(jobId)).toBe('[a b][a b]')
  },
  START_MS,
)
