import { randomUUID } from 'node:crypto'
import { expect, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { testServer } from '../_server.ts'

const server = forAllTests(() => testServer())

const schedule = async (name: string): Promise<string> => {
  const body = { name, workflow_name: 'probe', schedule: '0 3 * * *', target: 'a.example' }
  return (await server.admin.post('/api/schedules').send(body).expect(201)).body.data.id as string
}

test('schedules, subscriptions, tokens and entries of the never-scan list have a name in paths', async () => {
  const id = await schedule('every night')
  const path = '/api/schedules/every%20night'
  expect((await server.viewer.get(path).expect(200)).body.data.id).toBe(id)
  const changed = await server.admin.put(path).send({ target: 'b.example' }).expect(200)
  expect(changed.body.data).toMatchObject({ id, target: 'b.example' })
  expect((await server.admin.post(`${path}/disable`).expect(200)).body.data.is_enabled).toBe(false)
  await server.operator.post(`${path}/trigger`).expect(202)
  expect(
    (await server.viewer.get('/api/reports/schedules/every%20night').expect(404)).body.message,
  ).toContain('no job of the schedule "every night" has ended')
  expect((await server.admin.delete(path).expect(200)).body.id).toBe(id)

  const hook = { name: 'chat/ops', url: 'http://127.0.0.1:9/', topics: ['job.ended'] }
  await server.admin.post('/api/webhook-subscriptions').send(hook).expect(201)
  const hookPath = '/api/webhook-subscriptions/chat%2Fops'
  expect((await server.admin.patch(hookPath).send({ enabled: false }).expect(200)).body.data.enabled).toBe(
    false,
  )
  await server.admin.delete(hookPath).expect(200)
  await server.admin.delete(hookPath).expect(404)

  await server.admin.post('/api/tokens').send({ name: 'ci', role: 'viewer' }).expect(201)
  await server.admin.delete('/api/tokens/ci').expect(200)

  await server.admin.post('/api/never-scan').send({ entry: '192.0.2.0/24', reason: 'lab' }).expect(201)
  await server.admin.delete('/api/never-scan/192.0.2.0%2F24').expect(200)
  expect((await server.admin.get('/api/never-scan').expect(200)).body.data).toEqual([])
})

test('a name of several is refused with their ids; an id is never taken for a name', async () => {
  const ids = [await schedule('twice'), await schedule('other')]
  const { warnings } = (
    await server.admin.put(`/api/schedules/${ids[1]}`).send({ name: 'twice' }).expect(200)
  ).body
  expect(warnings).toEqual([
    {
      field: 'name',
      message: `several schedules have this name: only their ids ${ids.toSorted().join(', ')} tell them apart`,
    },
  ])
  const { body } = await server.admin.delete('/api/schedules/twice').expect(409)
  expect(body.message).toBe(
    `several of the kind schedule have the name "twice"; give an id: ${ids.toSorted().join(', ')}`,
  )
  const [id = ''] = ids
  const other = await schedule(id)
  expect((await server.viewer.get(`/api/schedules/${id}`).expect(200)).body.data).toMatchObject({
    id,
    name: 'twice',
  })
  for (const one of [...ids, other]) await server.admin.delete(`/api/schedules/${one}`).expect(200)
})

test('a subscription whose name another one has is accepted with a warning', async () => {
  const hook = { name: 'chat', url: 'http://127.0.0.1:9/', topics: ['job.ended'] }
  const path = '/api/webhook-subscriptions'
  const first = (await server.admin.post(path).send(hook).expect(201)).body
  expect(first).not.toHaveProperty('warnings')
  const second = (await server.admin.post(path).send(hook).expect(201)).body
  const [one, two] = [String(first.data.id), String(second.data.id)].toSorted()
  const message = `several subscriptions have this name: only their ids ${one}, ${two} tell them apart`
  expect(second.warnings).toEqual([{ field: 'name', message }])
  const own = `${path}/${second.data.id}`
  expect((await server.admin.patch(own).send({ enabled: false }).expect(200)).body).not.toHaveProperty(
    'warnings',
  )
  expect((await server.admin.patch(own).send({ name: 'chat' }).expect(200)).body.warnings).toHaveLength(1)
  for (const id of [one, two]) await server.admin.delete(`${path}/${id}`).expect(200)
})

test('a worker is named while it lives; a lost one of the same name only by its id', async () => {
  const join = async (): Promise<string> => {
    const workerId = randomUUID()
    const intro = { name: 'scan-1', hostname: 'host', pid: 5, version: '1', slots: 2, capabilities: [] }
    await server.runStore.join({ ...intro, workerId, kind: 'worker', leaseMs: 20_000 })
    return workerId
  }
  const lost = await join()
  await server.database.sql('update workers set lost_at = now() where id = $1', [lost])
  const living = await join()
  expect((await server.viewer.get('/api/workers/scan-1').expect(200)).body.data.id).toBe(living)
  const paused = await server.operator.post('/api/workers/scan-1/drain').send({ stop: false }).expect(200)
  expect(paused.body.data.id).toBe(living)
  await server.operator.post(`/api/workers/${lost}/resume`).expect(409)
})
