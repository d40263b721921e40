import { describe, expect, test } from '@jest/globals'
import type { FindingContent } from '@scanfarm/contracts'
import { testServer, type TestServer } from '../_server.ts'
import { scanOf } from '../_worker.ts'
import { findingOf } from '@scanfarm/store/testing'
import { forAllTests } from '@scanfarm/testing/for-all-tests'

const server = forAllTests(() => testServer())

const create = async (workspace: string, body: object = {}): Promise<number> =>
  (
    await server.operator
      .post('/api/vulnerabilities')
      .send({ workspace, ...body })
      .expect(201)
  ).body.data.id as number
const bulk = (body: object) => server.operator.post('/api/vulnerabilities/bulk').send(body)
interface Detail {
  readonly workspace: string
  readonly state: string
  readonly runs: readonly { run_uuid: string }[]
  readonly history: readonly object[]
  readonly history_complete: boolean
}
const read = async (id: number): Promise<Detail> =>
  (await server.viewer.get(`/api/vulnerabilities/${id}`).expect(200)).body.data as Detail
const foundEvents = async (workspace: string) =>
  (await server.viewer.get(`/api/event-logs?topic=vuln.found&workspace=${workspace}`).expect(200)).body
    .data as { data: unknown }[]

const finding = (vuln_info: string, severity: FindingContent['severity']): FindingContent =>
  findingOf({ vuln_info, vuln_title: vuln_info, severity, asset_value: 'https://a.example' })

const scan = (workspace: string, items: FindingContent[]) => scanOf(server, workspace, items)

describe('POST /vulnerabilities/bulk', () => {
  test('records are closed, opened again and tagged by id, each with its outcome', async () => {
    const a = await create('bulk', { tags: ['old'] })
    const b = await create('bulk')
    const { body } = await bulk({
      ids: [a, b, 999_999],
      change: { state: 'gone', add_tags: ['seen', 'old'] },
    })
    expect(body).toEqual({
      data: [
        { id: a, outcome: 'changed' },
        { id: b, outcome: 'changed' },
        { id: 999_999, outcome: 'not_found' },
      ],
      changed: 2,
    })
    expect(await read(a)).toMatchObject({ state: 'gone', gone_at: expect.any(String), tags: ['old', 'seen'] })
    const again = await bulk({ ids: [a, b], change: { state: 'gone' } }).expect(200)
    expect(again.body).toMatchObject({
      changed: 0,
      data: [{ outcome: 'unchanged' }, { outcome: 'unchanged' }],
    })
    const before = (await foundEvents('bulk')).length
    await bulk({ ids: [a], change: { state: 'open', remove_tags: ['old'] } }).expect(200)
    const opened = await read(a)
    expect(opened).toMatchObject({ state: 'open', gone_at: null, tags: ['seen'] })
    expect(opened.history).toMatchObject([
      {
        changed_by: 'token:operator',
        run_uuid: '',
        changes: { state: { from: 'gone', to: 'open' }, tags: { from: ['old', 'seen'], to: ['seen'] } },
      },
      { changed_by: 'token:operator', changes: { state: { from: 'open', to: 'gone' } } },
    ])
    const events = await foundEvents('bulk')
    expect(events).toHaveLength(before + 1)
    expect(JSON.stringify(events[0]?.data)).toMatch(/reopened\W+true/)
  })

  test('a filter names records, 1,000 in one request, and a cursor continues', async () => {
    const items = Array.from({ length: 1_001 }, (_, n) => finding(`many-${n}`, 'low'))
    await server.store.vulnerabilities.import('many', 'api', items)
    const keep = await create('kept')
    const filter = { workspace: 'many', severity: 'low' }
    const first = await bulk({ filter, change: { add_tags: ['x'] } }).expect(200)
    expect(first.body.changed).toBe(1_000)
    const cursor = first.body.next_cursor as string
    const second = await bulk({ filter, cursor, change: { add_tags: ['x'] } }).expect(200)
    expect(second.body).toMatchObject({ changed: 1, data: [{ outcome: 'changed' }] })
    expect(second.body).not.toHaveProperty('next_cursor')
    await bulk({ filter, change: { delete: true } }).expect(200)
    const rest = await bulk({ filter, change: { delete: true } }).expect(200)
    expect(rest.body).toMatchObject({ changed: 1, data: [{ outcome: 'deleted' }] })
    expect((await bulk({ filter, change: { delete: true } }).expect(200)).body).toEqual({
      data: [],
      changed: 0,
    })
    expect((await read(keep)).workspace).toBe('kept')
  })

  test('a record with too many tags is not changed', async () => {
    const id = await create('tags', { tags: Array.from({ length: 256 }, (_, n) => `t${n}`) })
    const { body } = await bulk({ ids: [id], change: { add_tags: ['more'], state: 'gone' } }).expect(200)
    expect(body.data).toEqual([{ id, outcome: 'too_many_tags' }])
    expect((await read(id)).state).toBe('open')
  })

  test.each([
    [{ change: { state: 'gone' } }, '/ids'],
    [{ ids: [1], filter: {}, change: { state: 'gone' } }, '/ids'],
    [{ ids: [1], change: { delete: true, state: 'gone' } }, '/change/delete'],
    [{ ids: [1], cursor: 'x', change: { state: 'gone' } }, '/cursor'],
    [{ ids: [1], change: {} }, '/change'],
    [{ ids: [1], change: { state: 'fixed' } }, '/change/state'],
    [{ filter: { severity: 'odd' }, change: { state: 'gone' } }, '/severity'],
    [{ ids: [1], change: { verdict: 'wrong' } }, '/change/verdict'],
    [{ ids: [1], change: { verdict: 'accepted', until: '2020-01-01T00:00:00Z' } }, '/change/until'],
    [{ ids: [1], change: { verdict: 'confirmed', until: '2999-01-01T00:00:00Z' } }, '/change/until'],
    [{ ids: [1], change: { reason: 'none given' } }, '/change/reason'],
    [{ ids: [1], change: { verdict: 'none', state: 'open' } }, '/change/state'],
    [{ ids: [1], change: { tags: [], add_tags: ['a'] } }, '/change/tags'],
  ])('%j answers 400', async (body, path) => {
    const answer = await bulk(body).expect(400)
    expect(answer.body.details).toEqual(expect.arrayContaining([expect.objectContaining({ path })]))
  })

  test('a verdict with a reason is set by filter, and lists are filtered by it', async () => {
    const items = [finding('one', 'low'), finding('two', 'high')]
    await server.store.vulnerabilities.import('verdicts', 'nuclei', items)
    const until = new Date(Date.now() + 86_400_000).toISOString()
    const change = { verdict: 'accepted', until, reason: 'old host', assignee: 'ann', comment: 'until March' }
    const { body } = await bulk({ filter: { workspace: 'verdicts', severity: 'low' }, change }).expect(200)
    expect(body.changed).toBe(1)
    const named = async (query: string): Promise<string[]> => {
      const listed = await server.viewer.get(`/api/vulnerabilities?workspace=verdicts&${query}`).expect(200)
      return (listed.body.data as { vuln_info: string }[]).map(({ vuln_info }) => vuln_info)
    }
    expect(await named('verdict=accepted,confirmed')).toEqual(['one'])
    expect(await named('verdict=none&seen=open&back=false')).toEqual(['two'])
    expect(await named('assignee=ann')).toEqual(['one'])
    expect(await named('back=true')).toEqual([])
    expect(await named('state=open')).toEqual(['two'])
    const facets = await server.viewer.get('/api/vulnerabilities/facets?workspace=verdicts').expect(200)
    expect(facets.body.data).toMatchObject({
      verdict: [
        { value: 'accepted', count: 1 },
        { value: 'none', count: 1 },
      ],
      seen: [{ value: 'open', count: 2 }],
      assignee: [
        { value: '', count: 1 },
        { value: 'ann', count: 1 },
      ],
    })
    const summary = await server.viewer.get('/api/vulnerabilities/summary?workspace=verdicts').expect(200)
    expect(summary.body.data.by_severity).toMatchObject({ high: 1, low: 0 })
  })
})

describe('PATCH /vulnerabilities/{id}', () => {
  test('a finding gets a verdict, and its answer has the history with author and comment', async () => {
    await scan('patched', [finding('cve', 'low')])
    const listed = await server.viewer.get('/api/vulnerabilities?workspace=patched').expect(200)
    const path = `/vulnerabilities/${listed.body.data[0].id}`
    const ticket = 'https://tickets.example/7'
    const change = {
      verdict: 'false_positive',
      reason: 'a test page',
      severity: 'info',
      tags: ['lab'],
      ticket,
    }
    const { body } = await server.operator
      .patch(`/api${path}`)
      .send({ ...change, comment: 'looked at it' })
      .expect(200)
    const decided = { ...change, decided_by: 'token:operator', state: 'gone', seen: 'open' }
    expect(body.data).toMatchObject({ ...decided, scan_severity: 'low' })
    expect(body.data.history).toMatchObject([
      { changed_by: 'token:operator', comment: 'looked at it', changes: {} },
      {
        changed_by: 'token:operator',
        comment: '',
        changes: { verdict: { from: 'none', to: 'false_positive' } },
      },
    ])
    await scan('patched', [finding('cve', 'high')])
    const after = await server.viewer.get(`/api${path}`).expect(200)
    expect(after.body.data).toMatchObject({ ...decided, scan_severity: 'high', times_seen: 2 })
    const audit = await server.admin.get('/api/audit?method=PATCH').expect(200)
    expect(audit.body.data[0]).toMatchObject({ path, caller: 'operator' })
  })

  test('wrong fields, unknown findings and viewers are refused', async () => {
    const patch = (agent: TestServer['viewer'], id: number, body: object) =>
      agent.patch(`/api/vulnerabilities/${id}`).send(body)
    const id = await create('refused')
    const { body } = await patch(server.operator, id, { until: '2999-01-01T00:00:00Z' }).expect(400)
    expect(body.details).toEqual([{ path: '/until', message: 'is only for the verdict accepted' }])
    await patch(server.operator, id, {}).expect(400)
    await patch(server.operator, 999_999, { verdict: 'confirmed' }).expect(404)
    await patch(server.viewer, id, { verdict: 'confirmed' }).expect(403)
  })
})

describe('GET /vulnerabilities/{id}', () => {
  test('a finding has the runs that saw it and what they changed', async () => {
    const first = await scan('history', [finding('cve', 'low')])
    const second = await scan('history', [finding('cve', 'high')])
    const third = await scan('history', [])
    const listed = await server.viewer.get('/api/vulnerabilities?workspace=history').expect(200)
    const id = listed.body.data[0].id as number
    const data = await read(id)
    expect(data.runs.map(({ run_uuid }) => run_uuid)).toEqual([second, first])
    expect(data.runs[0]).toMatchObject({ workflow_name: 'probe', target: 'a.example', status: 'completed' })
    expect(data.history).toMatchObject([
      { changes: { state: { from: 'open', to: 'gone' } }, run_uuid: third, changed_by: '' },
      { changes: { severity: { from: 'low', to: 'high' } }, run_uuid: second },
    ])
    expect(data.history_complete).toBe(true)
    for (let n = 0; n < 50; n++)
      for (const severity of ['low', 'high'] as const)
        await server.store.vulnerabilities.import('history', 'nuclei', [finding('cve', severity)])
    const long = await read(id)
    expect(long.history).toHaveLength(100)
    expect(long.history_complete).toBe(false)
  })
})

describe('GET /vulnerabilities/facets', () => {
  test('values are counted for the filter, the most frequent first', async () => {
    await server.store.vulnerabilities.import('facets', 'nuclei', [
      finding('a', 'low'),
      finding('b', 'low'),
      finding('c', 'high'),
    ])
    await scan('facets', [finding('d', 'low')])
    const { body } = await server.viewer.get('/api/vulnerabilities/facets?workspace=facets').expect(200)
    expect(body.data).toMatchObject({
      counted: 4,
      complete: true,
      severity: [
        { value: 'low', count: 3 },
        { value: 'high', count: 1 },
      ],
      state: [{ value: 'open', count: 4 }],
      asset_value: [{ value: 'https://a.example', count: 4 }],
      host: [{ value: 'a.example', count: 4 }],
      workflow: [
        { value: '', count: 3 },
        { value: 'probe', count: 1 },
      ],
    })
    const some = await server.viewer
      .get('/api/vulnerabilities/facets?workspace=facets&severity=high')
      .expect(200)
    expect(some.body.data).toMatchObject({ counted: 1, severity: [{ value: 'high', count: 1 }] })
    await server.viewer.get('/api/vulnerabilities/facets?severity=odd').expect(400)

    const only = async (names: string) =>
      (await server.viewer.get(`/api/vulnerabilities/facets?workspace=facets&only=${names}`).expect(200)).body
        .data as Record<string, unknown>
    for (const name of Object.keys(body.data).filter((one) => Array.isArray(body.data[one]))) {
      const counted = await only(name)
      expect(counted[name]).toEqual(body.data[name])
      const others = Object.entries(counted).filter(([other]) => other !== name)
      expect(others.every(([, value]) => !Array.isArray(value) || value.length === 0)).toBe(true)
      expect(counted).toMatchObject({ counted: 4, complete: true })
    }
    expect(await only('host,severity')).toMatchObject({
      host: [{ value: 'a.example', count: 4 }],
      severity: [{ value: 'low' }, { value: 'high' }],
      source: [],
    })
    await server.viewer.get('/api/vulnerabilities/facets?only=colour').expect(400)
  })
})

describe('saved filters', () => {
  test('a filter belongs to its caller, and operators share theirs', async () => {
    const save = (agent: TestServer['viewer'], body: object) => agent.post('/api/saved-filters').send(body)
    const mine = { screen: 'findings', name: 'Mine', query: 'severity=high' }
    const { body } = await save(server.viewer, mine).expect(201)
    expect(body.data).toMatchObject({ ...mine, own: true, shared: false, owner_name: 'viewer' })
    await save(server.viewer, { ...mine, shared: true }).expect(403)
    const replaced = await save(server.viewer, { ...mine, query: 'severity=low' }).expect(201)
    expect(replaced.body.data).toMatchObject({ id: body.data.id, query: 'severity=low' })
    const shared = await save(server.operator, { ...mine, name: 'Ours', shared: true }).expect(201)
    const names = async (agent: TestServer['viewer'], query = ''): Promise<string[]> => {
      const listed = await agent.get(`/api/saved-filters${query}`).expect(200)
      return (listed.body.data as { name: string; own: boolean }[]).map(({ name, own }) => `${name} ${own}`)
    }
    expect(await names(server.viewer)).toEqual(['Mine true', 'Ours false'])
    expect(await names(server.operator, '?screen=findings')).toEqual(['Ours true'])
    expect(await names(server.viewer, '?screen=runs')).toEqual([])
    await server.operator.delete(`/api/saved-filters/${body.data.id}`).expect(404)
    await server.viewer.delete(`/api/saved-filters/${shared.body.data.id}`).expect(404)
    await server.viewer.delete(`/api/saved-filters/${body.data.id}`).expect(200)
    await server.admin.delete(`/api/saved-filters/${shared.body.data.id}`).expect(200)
    expect(await names(server.viewer)).toEqual([])
  })

  test('a caller has at most 100, and can still replace one', async () => {
    const save = (name: string) =>
      server.admin.post('/api/saved-filters').send({ screen: 'runs', name, query: '' })
    for (let n = 0; n < 100; n++) await save(`f${n}`).expect(201)
    await save('one more').expect(409)
    await save('f0').expect(201)
  })

  test.each([
    { screen: 'No Screen', name: 'a', query: '' },
    { screen: 'runs', name: ' ', query: '' },
    { screen: 'runs', name: 'a', query: 'x'.repeat(4_097) },
  ])('a filter with wrong fields answers 400', async (body) => {
    await server.viewer.post('/api/saved-filters').send(body).expect(400)
  })
})

test('Files about CVEs are loaded over HTTP, and findings show, filter and sort by them', async () => {
  const raw_vuln_json = JSON.stringify({ cvss: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H' })
  const first = await create('enriched', { vuln_info: 'CVE-2026-8001', severity: 'low', raw_vuln_json })
  await create('enriched', { vuln_info: 'weak', severity: 'high' })
  const load = (file: string) => server.admin.post('/api/enrichments').type('text/plain').send(file)
  const epss = '#model_version:v1,score_date:2026-11-27\ncve,epss,percentile\nCVE-2026-8001,0.91,0.99\n'
  expect((await load(epss).expect(200)).body).toEqual({
    message: 'File loaded',
    kind: 'epss',
    cves: 1,
    changed: 1,
  })
  await load(
    JSON.stringify({
      catalogVersion: '1',
      vulnerabilities: [{ cveID: 'CVE-2026-8001', dateAdded: '2026-11-01', dueDate: '2026-12-01' }],
    }),
  ).expect(200)
  expect((await load('a,b\n1,2').expect(400)).body).toMatchObject({
    code: 'invalid_input',
    details: [{ path: '/file' }],
  })
  const { body } = await server.viewer.get('/api/enrichments').expect(200)
  expect(body).toMatchObject({
    data: [
      { kind: 'epss', cves: 1, published: '2026-11-27' },
      { kind: 'kev', cves: 1 },
    ],
  })
  const list = async (query: string) =>
    (await server.viewer.get(`/api/vulnerabilities?workspace=enriched&${query}`).expect(200)).body.data as {
      vuln_info: string
    }[]
  expect((await list('sort=priority')).map(({ vuln_info }) => vuln_info)).toEqual(['CVE-2026-8001', 'weak'])
  expect(await list('kev=true&min_epss=0.9')).toMatchObject([{ epss: 0.91, kev_due: '2026-12-01' }])
  expect(await list('min_epss=0.95')).toEqual([])
  await server.viewer.get('/api/vulnerabilities?min_epss=2').expect(400)
  expect(await read(first)).toMatchObject({
    cvss: { version: '3.1', score: 9.8 },
    priority: {
      score: 60,
      why: [{ factor: 'severity' }, { factor: 'kev' }, { factor: 'epss' }, { factor: 'exposure' }],
    },
  })
})
