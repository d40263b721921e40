import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Farm, Refusal, until } from './farm.ts'
import { jobEnded, readJob, runsOf, submit } from './jobs.ts'

const START_MS = 300_000
const TEST_MS = 120_000

let farm: Farm
let strict: Farm
let canary = ''
beforeAll(async () => {
  farm = await Farm.start({ workers: 1, slots: 2 })
  canary = join(await farm.traces(), 'canary')
}, START_MS)
afterAll(async () => {
  await farm?.[Symbol.asyncDispose]()
  await strict?.[Symbol.asyncDispose]()
}, START_MS)

const outputOf = async (of: Farm, runUuid: string): Promise<string> => {
  const { data } = await of.client.get<{ data: { output: string }[] }>(`/runs/${runUuid}/steps`)
  return data.map(({ output }) => output).join('')
}

const printed = async (of: Farm, jobId: string): Promise<string> => {
  await jobEnded(of.client, jobId)
  const [run] = await runsOf(of.client, jobId)
  expect(run?.status).toBe('completed')
  return outputOf(of, run?.run_uuid ?? '')
}

const hostile = () => `3 touch ${canary}`
const asArguments = () => `[3 touch ${canary}][3][touch][${canary}]`

test(
  'a param of a shipped flow is refused before anything is created when it does not fit its type',
  async () => {
    const params = { wait_seconds: hostile() }
    const body = { flow: 'service-survey', target: '127.0.0.1:9', run_mode: 'distributed', params }
    const refused: unknown = await farm.client.post('/runs', body).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(Refusal)
    expect(refused).toMatchObject({ status: 400, body: expect.stringContaining('/params/wait_seconds') })
    expect(refused).toMatchObject({ body: expect.stringContaining('expected a whole number from 1 to 60') })
  },
  TEST_MS,
)

test(
  "a caller's param runs no command, and is one word where it is no argument",
  async () => {
    const params = { wait: hostile() }
    const jobId = await submit(farm.client, { module: 'waiting', targets: ['a.test'], params })
    expect(await printed(farm, jobId)).toBe(asArguments())
    expect(existsSync(canary)).toBe(false)
  },
  TEST_MS,
)

test(
  "an event's input is a caller's param",
  async () => {
    await farm.client.post('/events/emit', {
      topic: 'custom.wait',
      data: { host: 'event.test', wait: hostile() },
    })
    const run = await until('the run of the event has ended', async () => {
      const path = '/runs?workflow=waiting&status=completed'
      const runs = await farm.client.all<{ run_uuid: string; target: string }>(path)
      return runs.find(({ target }) => target === 'event.test')
    })
    expect(await outputOf(farm, run.run_uuid)).toBe(asArguments())
    expect(existsSync(canary)).toBe(false)
  },
  TEST_MS,
)

test(
  'an event whose input does not fit starts no run, and the event log contains why',
  async () => {
    const emit = (host: string, wait: string) =>
      farm.client.post('/events/emit', { topic: 'custom.count', data: { host, wait } })
    await emit('bad.test', hostile())
    await emit('good.test', '4')
    await until('the run of the other event has ended', async () => {
      const runs = await farm.client.all<{ target: string }>('/runs?workflow=counting&status=completed')
      return runs.length > 0
    })
    const runs = await farm.client.all<{ target: string }>('/runs?workflow=counting')
    expect(runs.map(({ target }) => target)).toEqual(['good.test'])
    const logged = await farm.client.all<{ data: string; error: string }>('/event-logs?topic=custom.count')
    const entry = logged.find(({ data }) => data.includes('bad.test'))
    expect(entry?.error).toContain('params/wait: "3 touch')
    expect(existsSync(canary)).toBe(false)
  },
  TEST_MS,
)

test(
  'a schedule gives params as a caller does, and is refused when they do not fit',
  async () => {
    const base = { schedule: '0 3 * * *', target: 'clock.test', params: { wait: hostile() } }
    const refused = farm.client.post('/schedules', { ...base, name: 'bad', workflow_name: 'counting' })
    await expect(refused).rejects.toMatchObject({
      status: 400,
      body: expect.stringContaining('/params/wait'),
    })
    const { data } = await farm.client.post<{ data: { id: string } }>('/schedules', {
      ...base,
      name: 'good',
      workflow_name: 'waiting',
    })
    const fired = await farm.client.post<{ job_id: string }>(`/schedules/${data.id}/trigger`)
    expect(await printed(farm, fired.job_id)).toBe(asArguments())
    expect((await readJob(farm.client, fired.job_id)).failed).toBe(0)
    expect(existsSync(canary)).toBe(false)
  },
  TEST_MS,
)

test(
  'with workflows.strict_params of the worker a param without a type is one word everywhere',
  async () => {
    await farm[Symbol.asyncDispose]()
    strict = await Farm.start({ workers: 1, env: { SCANFARM_WORKFLOWS_STRICT_PARAMS: 'true' } })
    const params = { wait: 'a b' }
    const jobId = await submit(strict.client, { module: 'waiting', targets: ['a.test'], params })
    expect(await printed(strict, jobId)).toBe('[a b][a b]')
  },
  START_MS,
)
