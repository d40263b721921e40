import { expect, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { testServer } from '../_server.ts'

const server = forAllTests(() => testServer())

interface Page {
  readonly data: readonly Record<string, unknown>[]
  readonly pagination: { readonly total: number; readonly next_cursor?: string }
}
const list = async (query = ''): Promise<Page> =>
  (await server.admin.get(`/api/audit${query}`).expect(200)).body as Page
const sql = (text: string) => server.database.sql(text)

test('Changes are recorded with caller, route and ids, and without bodies', async () => {
  const user = { username: 'ada', password: 'a secret of ada', role: 'viewer' }
  const { body } = await server.admin.post('/api/users').send(user).expect(201)
  await server.admin.patch(`/osm/api/users/${body.data.id}`).send({ role: 'operator' }).expect(200)
  const { data, pagination } = await list()
  expect(pagination.total).toBe(2)
  expect(data).toEqual([
    {
      id: expect.any(Number),
      at: expect.any(String),
      kind: 'token',
      caller_id: expect.any(Number),
      caller: 'admin',
      role: 'admin',
      method: 'PATCH',
      route: '/users/{id}',
      path: `/users/${body.data.id}`,
      status: 200,
    },
    expect.objectContaining({ method: 'POST', route: '/users', path: '/users', status: 201 }),
  ])
  expect(JSON.stringify(data)).not.toMatch(/secret|ada/)
})

test('Requests that fail, that read, or that change only the login of the caller are not recorded', async () => {
  const before = (await list()).pagination.total
  await server.admin.post('/api/users').send({ username: 'x' }).expect(400)
  await server.admin.delete('/api/users/999999').expect(404)
  await server.viewer.post('/api/users').send({}).expect(403)
  await server.admin.get('/api/users').expect(200)
  await server.viewer.post('/api/workflows/lint').send({ content: 'kind: module' })
  await server.viewer.post('/api/session/links')
  expect((await list()).pagination.total).toBe(before)
})

test('The list is filtered by caller, method, path and time, and read with a cursor', async () => {
  const run = { module: 'probe', target: 'a.example', run_mode: 'local' }
  await server.operator.post('/api/runs').send(run).expect(202)
  await server.operator.post('/api/runs').send(run).expect(202)
  const byOperator = await list('?caller=operator&limit=1')
  expect(byOperator).toMatchObject({ data: [{ route: '/runs' }], pagination: { total: 2 } })
  const next = await list(`?caller=operator&limit=1&cursor=${byOperator.pagination.next_cursor}`)
  expect(Number(next.data[0]?.['id'])).toBeLessThan(Number(byOperator.data[0]?.['id']))
  expect((await list('?method=PATCH')).data).toHaveLength(1)
  expect((await list('?path=users/')).data).toHaveLength(1)
  expect((await list('?since=2100-01-01T00:00:00Z')).data).toEqual([])
  expect((await list('?until=2100-01-01T00:00:00Z')).pagination.total).toBe(4)
  await server.admin.get('/api/audit?since=yesterday').expect(400)
  await server.admin.get('/api/audit?method=GET').expect(400)
})

test('Entries are deleted after 90 days, and the oldest of more than 1,000,000', async () => {
  await sql(`update audit_log set at = now() - interval '91 days' where method = 'PATCH'`)
  expect(await server.store.audit.prune()).toBe(1)
  expect((await list('?method=PATCH')).data).toEqual([])
  await sql(`
    insert into audit_log overriding system value
    select max(id) + 1000000, now(), 'user', 1, 'late', 'admin', 'POST', '/runs', '/runs', 202 from audit_log`)
  const { total } = (await list()).pagination
  expect(await server.store.audit.prune()).toBe(total - 1)
  expect((await list()).data).toMatchObject([{ caller: 'late' }])
})
