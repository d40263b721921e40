import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import type { NeverScan, Refusal, Scope } from '@scanfarm/contracts'
import { testServer, type TestServer } from '../_server.ts'

let server: TestServer
let strict: TestServer
let lists = ''
beforeAll(async () => {
  server = await testServer()
  lists = join(server.folder, 'lists')
  await mkdir(lists)
  strict = await testServer({
    master: true,
    settings: { 'scope.required': true, 'target_file.folders': [lists] },
  })
})
afterAll(async () => {
  await strict[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})
afterEach(async () => {
  for (const one of [server, strict]) {
    const { body } = await one.admin.get('/api/never-scan?limit=1000').expect(200)
    for (const { id } of body.data as NeverScan[]) await one.admin.delete(`/api/never-scan/${id}`).expect(200)
  }
})

const add = async (scope: object, to = server): Promise<Scope> =>
  (await to.admin.post('/api/scopes').send(scope).expect(201)).body.data as Scope
const run = (body: object, to = server) => to.operator.post('/api/runs').send({ module: 'probe', ...body })
const never = (entry: string, more: object = {}) =>
  server.admin.post('/api/never-scan').send({ entry, reason: 'a hospital', ...more })
const refusedEvents = async (of = server) =>
  (
    (await of.viewer.get('/api/event-logs?topic=target.refused&limit=100').expect(200)).body.data as {
      data: string
    }[]
  ).map(
    ({ data }) =>
      (typeof data === 'string' ? JSON.parse(data) : data) as {
        target: string
        reason: string
        place: string
      },
  )

describe('scopes', () => {
  test('a scope is added, read, changed, listed and removed', async () => {
    const scope = await add({
      name: 'shop',
      allowed: ['*.shop.example', '10.0.0.0/24:80,443'],
      denied: ['pay.shop.example'],
      owner: 'Ann',
      note: 'contract 17',
      valid_until: '2099-01-01T00:00:00+01:00',
      windows: [{ days: ['mon'], from: '22:00', to: '06:00' }],
      zone: 'Europe/Berlin',
    })
    expect(scope).toMatchObject({
      name: 'shop',
      allowed: ['*.shop.example', '10.0.0.0/24:80,443'],
      valid_from: null,
      enforcement: 'checked',
      valid_until: '2098-12-31T23:00:00.000Z',
      workspaces: [],
      created_by: expect.stringMatching(/^token:/),
    })
    const changed = await server.admin
      .patch('/api/scopes/SHOP')
      .send({ windows: [], workspaces: ['shop'], owner: 'Bob', enforcement: 'kernel' })
      .expect(200)
    expect(changed.body.data).toMatchObject({
      windows: [],
      workspaces: ['shop'],
      owner: 'Bob',
      note: 'contract 17',
      enforcement: 'kernel',
    })
    expect((await server.viewer.get('/api/scopes/shop').expect(200)).body.data).toEqual(changed.body.data)
    const { body } = await server.viewer.get('/api/scopes').expect(200)
    expect((body.data as Scope[]).map(({ name }) => name)).toContain('shop')
    const kept = await server.admin.delete('/api/scopes/shop').expect(409)
    expect(kept.body.message).toContain('the scope has workspaces (shop)')
    await server.admin.patch('/api/scopes/shop').send({ workspaces: [] }).expect(200)
    await server.admin.delete('/api/scopes/shop').expect(200)
    await server.viewer.get('/api/scopes/shop').expect(404)
  })

  test('every problem of a scope is named', async () => {
    const { body } = await server.admin
      .post('/api/scopes')
      .send({
        name: 'bad',
        allowed: ['10.0.0.1/8', 'ok.example'],
        denied: ['a b'],
        zone: 'Mars',
        workspaces: ['a/b'],
      })
      .expect(400)
    expect(body.details).toEqual([
      { path: '/allowed/0', message: expect.stringContaining('not the first address of its network') },
      { path: '/denied/0', message: expect.stringContaining('must not contain spaces') },
      { path: '/zone', message: expect.stringContaining('"Mars" is not a time zone') },
      { path: '/workspaces/0', message: expect.stringContaining('a workspace name') },
    ])
    await server.admin
      .post('/api/scopes')
      .send({
        name: 'bad',
        allowed: ['*'],
        valid_from: '2030-01-02T00:00:00Z',
        valid_until: '2030-01-01T00:00:00Z',
      })
      .expect(400)
    await server.operator
      .post('/api/scopes')
      .send({ name: 'mine', allowed: ['*'] })
      .expect(403)
  })

  test('a name and a workspace belong to one scope', async () => {
    await add({ name: 'first', allowed: ['*'], workspaces: ['both'] })
    const taken = await server.admin
      .post('/api/scopes')
      .send({ name: 'First', allowed: ['*'] })
      .expect(409)
    expect(taken.body.message).toContain('there is already a scope "First"')
    const bound = await server.admin
      .post('/api/scopes')
      .send({ name: 'second', allowed: ['*'], workspaces: ['both'] })
      .expect(409)
    expect(bound.body.message).toContain('the workspace both has the scope first')
    await server.viewer.get('/api/scopes/second').expect(404)
  })

  test('whether a target may be scanned is said with the reason', async () => {
    await add({
      name: 'lab',
      allowed: ['10.1.0.0/16'],
      windows: [{ days: ['sun'], from: '00:00', to: '00:01' }],
    })
    const check = async (query: string) =>
      (await server.viewer.get(`/api/scope-check?${query}`).expect(200)).body as {
        allowed: boolean
        opens_at: string | null
      }
    expect(await check('target=10.2.0.1&scope=lab')).toEqual({
      allowed: false,
      reason: 'the scope lab allows no such host, port or URL',
      opens_at: null,
    })
    expect(await check('target=a.example')).toEqual({ allowed: true, reason: '', opens_at: null })
    const closed = await check('target=10.1.0.1&scope=lab')
    expect(closed.allowed || closed.opens_at !== null).toBe(true)
    const unknown = await server.viewer.get('/api/scope-check?target=a&scope=none').expect(400)
    expect(unknown.body.message).toBe('scope: there is no scope "none"')
  })
})

describe('the never-scan list', () => {
  test('entries are added, searched and removed, by administrators', async () => {
    await server.operator.post('/api/never-scan').send({ entry: 'a.example', reason: 'x' }).expect(403)
    await server.viewer.get('/api/never-scan').expect(403)
    const added = await never('10.0.0.0/24', { until: '2099-01-01T00:00:00Z', workflow: 'probe' }).expect(201)
    expect(added.body.data).toMatchObject({
      entry: '10.0.0.0/24',
      reason: 'a hospital',
      until: '2099-01-01T00:00:00.000Z',
      workflow: 'probe',
    })
    await never('10.0.0.0/24', { reason: 'an airport', workflow: 'probe' }).expect(201)
    await never('b.example').expect(201)
    const { body } = await server.operator.get('/api/never-scan?search=airport').expect(200)
    expect(body).toMatchObject({ data: [{ entry: '10.0.0.0/24', until: null }], pagination: { total: 1 } })
    const bad = await never('10.0.0.1/24').expect(400)
    expect(bad.body.details).toEqual([
      { path: '/entry', message: expect.stringContaining('not the first address') },
    ])
    await never('c.example', { until: '2001-01-01T00:00:00Z' }).expect(400)
    await server.admin.delete('/api/never-scan/999999').expect(404)
  })

  test('a file is imported as a whole or not at all', async () => {
    const load = (text: string) =>
      server.admin.post('/api/never-scan/import').send({ text, reason: 'from the file' })
    const bad = await load('a.example\n10.0.0.0/33\n\nb c\n10.0.0.1,clinic').expect(400)
    expect(bad.body.details).toEqual([
      { path: '/text', message: expect.stringContaining('line 2: "10.0.0.0/33" is not a network') },
      { path: '/text', message: expect.stringContaining('line 4: "b c" must not contain spaces') },
      { path: '/text', message: expect.stringMatching(/^line 5: .*; a reason follows #/) },
    ])
    await load('# nothing\n').expect(400)
    expect(
      (await load('# all\na.example\n*.b.example # a clinic\r\n2001:db8::/32\na.example').expect(200)).body,
    ).toEqual({ added: 3, replaced: 0 })
    expect((await load('a.example\nc.example').expect(200)).body).toEqual({ added: 1, replaced: 1 })
    const { body } = await server.admin.get('/api/never-scan').expect(200)
    expect((body.data as NeverScan[]).map(({ entry, reason }) => [entry, reason])).toEqual([
      ['a.example', 'from the file'],
      ['*.b.example', 'a clinic'],
      ['2001:db8::/32', 'from the file'],
      ['c.example', 'from the file'],
    ])
  })
})

describe('the targets of a request', () => {
  test('those that are forbidden are listed with their reasons, and the rest runs', async () => {
    await add({ name: 'web', allowed: ['*.web.example', '10.9.0.0/16'], denied: ['10.9.1.0/24'] })
    await never('www.web.example').expect(201)
    const targets = [
      'a.web.example',
      'https://u:pw@www.web.example/',
      '10.9.1.7',
      '10.9.2.7',
      'other.example',
      '10.9.0.0/16',
    ]
    const { body } = await run({ targets, scope: 'web' }).expect(202)
    expect(body).toMatchObject({
      target_count: 2,
      targets: ['a.web.example', '10.9.2.7'],
      scope: 'web',
      refused_count: 4,
      refused: [
        {
          target: 'https://u:***@www.web.example/',
          reason: 'it is on the never-scan list as www.web.example (a hospital)',
        },
        { target: '10.9.1.7', reason: 'the scope web denies 10.9.1.0/24' },
        { target: 'other.example', reason: 'the scope web allows no such host, port or URL' },
        { target: '10.9.0.0/16', reason: 'the scope web denies 10.9.1.0/24' },
      ],
    })
    const job = await server.viewer.get(`/api/jobs/${body.job_id}/summary`).expect(200)
    expect(job.body.data).toMatchObject({ scope: 'web', refused: 4, target_count: 2 })
    const listed = await server.viewer.get(`/api/jobs/${body.job_id}/refusals`).expect(200)
    expect(listed.body.pagination.total).toBe(4)
    expect(listed.body.data as Refusal[]).toMatchObject(
      (body.refused as object[]).map((one) => ({ ...one, place: 'submit', run_uuid: '' })),
    )
    expect(await refusedEvents()).toEqual(
      expect.arrayContaining((body.refused as object[]).map((one) => expect.objectContaining(one))),
    )
    const metrics = await server.viewer.get('/metrics')
    expect(metrics.text).toMatch(/scanfarm_targets_refused_total\{place="submit"\} [1-9]/)
    await server.viewer.get('/api/jobs/0000000000000000/refusals').expect(404)
  })

  test('strict refuses the whole request, and nothing left is an error', async () => {
    await never('192.0.2.0/24').expect(201)
    const before = (await server.viewer.get('/api/runs').expect(200)).body.pagination.total as number
    const all = await run({ targets: ['192.0.2.1', 'a.example'], strict: true }).expect(400)
    expect(all.body).toMatchObject({
      code: 'target_refused',
      message: '192.0.2.1: it is on the never-scan list as 192.0.2.0/24 (a hospital)',
    })
    const none = await run({ targets: ['192.0.2.2', '192.0.2.3'] }).expect(400)
    expect(none.body.details).toHaveLength(2)
    expect((await server.viewer.get('/api/runs').expect(200)).body.pagination.total).toBe(before)
    const targets = (await refusedEvents()).map(({ target }) => target)
    expect(targets).toEqual(expect.arrayContaining(['192.0.2.1', '192.0.2.2', '192.0.2.3']))
  })

  test('an entry for one workflow leaves the others alone', async () => {
    await never('only.example', { workflow: 'probe' }).expect(201)
    await run({ target: 'only.example' }).expect(400)
    await run({ module: undefined, flow: 'survey', target: 'only.example' }).expect(202)
  })

  test('a workspace binds its runs, also those that name a wider scope', async () => {
    await add({ name: 'narrow', allowed: ['in.example'], workspaces: ['bound'] })
    await add({ name: 'wide', allowed: ['*'] })
    const { body } = await run({
      targets: ['in.example', 'out.example'],
      workspace: 'bound',
      scope: 'wide',
    }).expect(202)
    expect(body.refused).toEqual([
      { target: 'out.example', reason: 'the scope narrow allows no such host, port or URL' },
    ])
    await run({ target: 'out.example', scope: 'wide' }).expect(202)
    const unknown = await run({ target: 'a.example', scope: 'nothing' }).expect(400)
    expect(unknown.body.message).toBe('scope: there is no scope "nothing"')
  })

  test('a large file of targets is checked while it is read', async () => {
    await add({ name: 'nets', allowed: ['10.0.0.0/8'], denied: ['10.0.3.0/24'] }, strict)
    const file = join(lists, 'many.txt')
    const many = Array.from({ length: 101_000 }, (_, n) => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`)
    await writeFile(file, `${many.join('\n')}\n`)
    const { body } = await run({ target_file: file, scope: 'nets', run_mode: 'distributed' }, strict).expect(
      202,
    )
    expect(body).toMatchObject({ target_count: 101_000 - 256, refused_count: 256 })
    const { body: listed } = await strict.viewer
      .get(`/api/jobs/${body.job_id}/refusals?limit=300`)
      .expect(200)
    expect(listed.data).toHaveLength(256)
  })

  test('scope.required refuses runs without a scope', async () => {
    const { body } = await run({ target: 'a.example' }, strict).expect(400)
    expect(body.message).toContain('which the setting scope.required demands')
    await add({ name: 'all', allowed: ['*'], workspaces: ['home'] }, strict)
    await run({ target: 'a.example', scope: 'all' }, strict).expect(202)
    const { body: bound } = await run({ target: 'a.example', workspace: 'home' }, strict).expect(202)
    const { body: copy } = await strict.operator.post(`/api/runs/${bound.run_uuid}/duplicate`).expect(201)
    await strict.admin.patch('/api/scopes/all').send({ workspaces: [] }).expect(200)
    for (const path of [
      `jobs/${bound.job_id}/retry`,
      `runs/${bound.run_uuid}/duplicate`,
      `runs/${copy.run_uuid}/start`,
    ]) {
      const { body: unbound } = await strict.operator.post(`/api/${path}`).send({}).expect(400)
      expect(unbound).toMatchObject({
        code: 'target_refused',
        message: expect.stringMatching(/^neither the request nor the workspace has a scope/),
      })
    }
  })
})

describe('schedules and triggers', () => {
  test('a schedule names a scope, and one whose targets are all refused is an error', async () => {
    await add({ name: 'nightly', allowed: ['in.example'] })
    const body = { name: 'n', workflow_name: 'probe', schedule: '0 3 * * *', scope: 'nightly' }
    const refused = await server.admin
      .post('/api/schedules')
      .send({ ...body, target: 'out.example' })
      .expect(400)
    expect(refused.body).toMatchObject({
      code: 'target_refused',
      message: expect.stringContaining('out.example: the scope nightly'),
    })
    const made = await server.admin
      .post('/api/schedules')
      .send({ ...body, targets: ['in.example', 'out.example'] })
      .expect(201)
    expect(made.body.data.scope).toBe('nightly')
    await server.admin.post(`/api/schedules/${made.body.data.id}/trigger`).expect(202)
    const { body: jobs } = await server.viewer.get('/api/jobs?trigger=cron').expect(200)
    expect(jobs.data[0]).toMatchObject({ scope: 'nightly', refused: 1, target_count: 1 })
    const { body: list } = await server.viewer.get(`/api/jobs/${jobs.data[0].job_id}/refusals`).expect(200)
    expect(list.data).toMatchObject([{ target: 'out.example', place: 'trigger' }])
  })

  test('an asset that becomes the target of a trigger is refused, and its event starts nothing again', async () => {
    const made = await server.admin
      .post('/api/schedules')
      .send({ name: 'on assets', workflow_name: 'probe', trigger_type: 'event', event_topic: 'custom.asset' })
      .expect(201)
    await never('found.example').expect(201)
    await server.admin
      .post('/api/events/emit')
      .send({ topic: 'custom.asset', data: { target: 'www.found.example' } })
      .expect(200)
    const events = (await refusedEvents()).filter(({ target }) => target === 'www.found.example')
    expect(events).toMatchObject([{ place: 'trigger', reason: expect.stringContaining('never-scan list') }])
    const runs = await server.viewer.get('/api/runs?target=www.found.example').expect(200)
    expect(runs.body.data).toEqual([])
    await server.admin.delete(`/api/schedules/${made.body.data.id}`).expect(200)
  })
})
