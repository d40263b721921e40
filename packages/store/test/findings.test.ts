import { beforeEach, describe, expect, test } from '@jest/globals'
import type { AssetContent, FindingContent } from '@scanfarm/contracts'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { asSuperuser, testDatabase } from './database.ts'
import { assetOf, findingOf } from './fixtures.ts'

const db = forAllTests(() => testDatabase())
beforeEach(async () => {
  await db.sql('truncate vulnerabilities, assets, event_logs cascade')
})

const finding = (changes: Partial<FindingContent> = {}): FindingContent =>
  findingOf({
    vuln_info: 'CVE-2026-1',
    vuln_title: 'Old library',
    asset_value: 'https://a.example/login',
    tags: ['web'],
    ...changes,
  })

const asset = (changes: Partial<AssetContent> = {}): AssetContent =>
  assetOf({
    url: 'https://a.example',
    scheme: 'https',
    status_code: 200,
    title: 'Hello',
    technologies: ['nginx'],
    ...changes,
  })

const page = { offset: 0, limit: 20 }
const list = async (filter: Parameters<typeof db.store.vulnerabilities.list>[0] = {}) =>
  (await db.store.vulnerabilities.list(filter, page)).data
const topics = async () => (await db.store.events.list({}, { offset: 0, limit: 100 })).data

test.each<[string, boolean, ...string[]]>([
  ['HTTP with and without its port', true, 'http://h', 'http://h:80', 'h:80', 'h'],
  ['HTTPS with and without its port', true, 'https://h/x?y', 'https://h:443/x?y'],
  ['a port of TLS', true, 'https://h', 'h:443'],
  ['an address of IPv6', true, 'http://[::1]', '[::1]:80', 'http://[::1]:80'],
  ['the port of the other scheme', false, 'http://h', 'http://h:443', 'https://h', 'https://h:80', 'h:8443'],
])('a finding at %s is one place: %s', async (_name, same, ...places) => {
  const { vulnerabilities } = db.store
  for (const asset_value of places)
    await vulnerabilities.import('w', 'nuclei', [finding({ asset_value, vuln_title: asset_value })])
  expect(await list()).toHaveLength(same ? 1 : places.length)
})

test('Each line of a source file is another place', async () => {
  const at = (asset_value: string) => finding({ asset_value, asset_type: 'file' })
  await db.store.vulnerabilities.import('w', 'sarif', [at('main.c:80'), at('main.c:443'), at('main.c')])
  expect(await list()).toHaveLength(3)
})

test('A web server is the same asset with and without the port of its scheme, and its port is another asset', async () => {
  const of = (asset_value: string, url: string) => asset({ asset_value, url })
  await db.store.assets.import('w', 'httpx', [
    of('h', 'https://h'),
    of('h:443', 'https://h:443'),
    of('h:443', ''),
    of('h:80', 'http://h:80'),
    of('h:53/udp', ''),
    of('h:53', ''),
  ])
  const { data } = await db.store.assets.list({}, page)
  expect(data.map(({ asset_value, url }) => `${asset_value} ${url}`.trim()).sort()).toEqual([
    'h:443',
    'h:443 https://h:443',
    'h:53',
    'h:53/udp',
    'h:80 http://h:80',
  ])
})

test('A port is found by its number, whatever its protocol', async () => {
  const of = (port: string) => asset({ asset_value: `h:${port}`, url: '', open_ports: [port] })
  await db.store.assets.import('w', 'nmap', [of('53'), of('53/udp'), of('54')])
  const found = async (port: string) => (await db.store.assets.list({ port }, page)).total
  expect([await found('53'), await found('53/udp')]).toEqual([2, 1])
})

describe('importing vulnerabilities', () => {
  test('An import updates the record with the same identity, and only new records write events', async () => {
    const { vulnerabilities } = db.store
    expect(await vulnerabilities.import('w', 'nuclei', [finding()])).toEqual({
      new: 1,
      updated: 0,
      unchanged: 0,
      known: 0,
      merged: 0,
      errors: 0,
    })
    expect(await vulnerabilities.import('w', 'nuclei', [finding()])).toMatchObject({
      new: 0,
      unchanged: 1,
      known: 1,
    })
    expect(
      await vulnerabilities.import('w', 'sarif', [finding({ severity: 'critical', vuln_title: '' })]),
    ).toMatchObject({ updated: 1 })
    const [only, ...others] = await list()
    expect(others).toEqual([])
    expect(only).toMatchObject({
      severity: 'critical',
      vuln_title: 'Old library',
      times_seen: 3,
      source: 'sarif',
      state: 'open',
      run_uuid: '',
    })
    expect(only?.last_seen).not.toBe(only?.first_seen)
    expect(await topics()).toMatchObject([
      { topic: 'vuln.found', source: 'api', data_type: 'vulnerability', workspace: 'w', processed: true },
    ])
  })

  test('Vulnerabilities that differ in workspace, name, place or type are separate records', async () => {
    const items = [
      finding(),
      finding({ vuln_info: 'CVE-2026-2' }),
      finding({ asset_value: 'https://b.example' }),
      finding({ asset_type: 'api' }),
      finding({ vuln_info: '', vuln_title: 'CVE-2026-1' }),
    ]
    expect(await db.store.vulnerabilities.import('w', 'x', items)).toMatchObject({ new: 4 })
    expect(await db.store.vulnerabilities.import('v', 'x', items)).toMatchObject({ new: 4 })
  })

  test('A vulnerability without a place or a name is a new record each time', async () => {
    const loose = [finding({ asset_value: '' }), finding({ vuln_info: '', vuln_title: '' })]
    await db.store.vulnerabilities.import('w', 'x', loose)
    await db.store.vulnerabilities.import('w', 'x', loose)
    expect(await list()).toHaveLength(4)
  })

  test('Concurrent imports of the same vulnerabilities neither duplicate records nor deadlock', async () => {
    const items = Array.from({ length: 60 }, (_, n) => finding({ asset_value: `https://${n}.example` }))
    const shuffled = (n: number) =>
      items.toSorted((a, b) => ((a.asset_value.length * n) % 7) - (b.asset_value.length % 5))
    const counts = await Promise.all(
      Array.from({ length: 12 }, (_, n) => db.store.vulnerabilities.import('w', 'x', shuffled(n))),
    )
    expect(counts.reduce((sum, one) => sum + one.new, 0)).toBe(60)
    const { data, total } = await db.store.vulnerabilities.list({}, { offset: 0, limit: 100 })
    expect(total).toBe(60)
    expect(new Set(data.map(({ times_seen }) => times_seen))).toEqual(new Set([12]))
    expect(await topics()).toHaveLength(60)
  })

  test('Hostile text is stored unchanged except for characters that Postgres cannot store', async () => {
    const text = `'; drop table vulnerabilities; -- \0 \ud800 {{x}} $(id) \u{1f980}`
    await db.store.vulnerabilities.import('w', 'x', [finding({ vuln_title: text, tags: [text] })])
    const [only] = await list()
    const kept = `'; drop table vulnerabilities; --  \ufffd {{x}} $(id) \u{1f980}`
    expect(only).toMatchObject({ vuln_title: kept, tags: [kept] })
  })
})

describe('vulnerabilities created by hand', () => {
  test('A vulnerability created by hand is always new; imports update the first one, or the next when it is deleted', async () => {
    const { vulnerabilities } = db.store
    const first = await vulnerabilities.create('w', finding())
    const second = await vulnerabilities.create('w', finding())
    expect(second.id).not.toBe(first.id)
    expect(second.finding_hash).toBe(first.finding_hash)
    expect(await vulnerabilities.import('w', 'x', [finding()])).toMatchObject({ new: 0 })
    expect((await vulnerabilities.find(first.id))?.times_seen).toBe(2)
    expect(await vulnerabilities.remove(first.id)).toBe(true)
    expect(await vulnerabilities.remove(first.id)).toBe(false)
    expect(await vulnerabilities.import('w', 'x', [finding()])).toMatchObject({ new: 0 })
    expect((await vulnerabilities.find(second.id))?.times_seen).toBe(2)
    expect(await topics()).toHaveLength(2)
  })
})

test('The order of severity is read from an index, also after a cursor', async () => {
  await db.store.vulnerabilities.import('w', 'nuclei', [findingOf()])
  const plans = await asSuperuser(async (client) => {
    await client.query('set enable_seqscan = off; set enable_sort = off')
    const after = '(severity_rank(v.severity), -v.id) > (4::bigint, -10::bigint)'
    const found: string[] = []
    for (const condition of ["v.state = 'open'", `v.state = 'open' and ${after}`]) {
      const { rows } = await client.query<{ 'QUERY PLAN': string }>(
        `explain select v.id from vulnerabilities v where ${condition}
         order by severity_rank(v.severity), (-v.id) limit 100`,
      )
      found.push(rows.map((row) => row['QUERY PLAN']).join('\n'))
    }
    return found
  }, db.url)
  for (const plan of plans) {
    expect(plan).toMatch(/Index Scan using vulnerabilities_order/)
    expect(plan).not.toContain('Sort')
  }
})

describe('assets', () => {
  test('An asset is discovered once and updated when it changes; fields that an import leaves empty are kept', async () => {
    const { assets } = db.store
    expect(await assets.import('w', 'httpx', [asset()])).toMatchObject({ new: 1 })
    expect(await assets.import('w', 'httpx', [asset({ title: '', technologies: [] })])).toMatchObject({
      unchanged: 1,
    })
    expect(await assets.import('w', 'httpx', [asset({ status_code: 403 })])).toMatchObject({ updated: 1 })
    const { data } = await assets.list({ search: 'A.EXAM' }, page)
    expect(data).toMatchObject([{ title: 'Hello', technologies: ['nginx'], status_code: 403, times_seen: 3 }])
    expect((await topics()).map(({ topic }) => topic)).toEqual(['asset.updated', 'asset.discovered'])
  })
})

describe('the record of a scanner', () => {
  const request = `GET /a HTTP/1.1\r\nX-Long: ${'r"e\\q '.repeat(200)}\r\n\r\n`
  const response = `HTTP/1.1 200 OK\r\n\r\n${'<b>é \u{1f600}</b>\n'.repeat(300)}`
  const written = (more: object = {}) => JSON.stringify({ 'template-id': 't', request, response, ...more })
  const seen = (changes: Partial<FindingContent> = {}) =>
    findingOf({
      vuln_info: 'once',
      asset_value: 'https://once.test',
      detail_http_request: request,
      detail_http_response: response,
      raw_vuln_json: written(),
      ...changes,
    })
  const found = async () => {
    const { data } = await db.store.vulnerabilities.list({ workspace: ['once'] }, { offset: 0, limit: 10 })
    expect(data).toHaveLength(1)
    return data[0]
  }
  const imported = (changes: Partial<FindingContent> = {}) =>
    db.store.vulnerabilities.import('once', 'nuclei', [seen(changes)])
  const bytes = async (column: string): Promise<number> =>
    asSuperuser(async (client) => {
      const { rows } = await client.query<{ n: number }>(
        `select octet_length(${column}) as n from vulnerabilities where workspace = 'once'`,
      )
      return Number(rows[0]?.n)
    }, db.url)

  test('The record of a scanner is stored without the texts of other columns, and returned whole', async () => {
    await imported()
    expect((await found())?.raw_vuln_json).toBe(written())
    expect(await bytes('raw_vuln_json')).toBeLessThan(300)
    expect(await db.store.vulnerabilities.find((await found())?.id ?? 0)).toMatchObject({
      raw_vuln_json: written(),
      detail_http_response: response,
    })
  })

  test.each([
    [
      'a new response',
      { detail_http_response: `${response}!`, raw_vuln_json: written({ response: `${response}!` }) },
    ],
    ['a new response alone', { detail_http_response: `new ${response}`, raw_vuln_json: '' }],
    [
      'a record alone',
      { detail_http_request: '', detail_http_response: '', raw_vuln_json: written({ more: 1 }) },
    ],
    ['a record that repeats the response', { raw_vuln_json: written({ again: response }) }],
    ['a text that is no JSON', { raw_vuln_json: `\u0001${response}` }],
    ['no text', { detail_http_request: '', detail_http_response: '', raw_vuln_json: '' }],
  ])('The record of a scanner stays whole after a sighting with %s', async (_, changes) => {
    await imported()
    const before = await found()
    await imported(changes)
    const kept = (name: 'detail_http_request' | 'detail_http_response' | 'raw_vuln_json') =>
      (changes as Partial<FindingContent>)[name] ?? seen()[name]
    const after = await found()
    for (const name of ['detail_http_request', 'detail_http_response', 'raw_vuln_json'] as const)
      expect(after?.[name]).toBe(kept(name) || before?.[name])
  })

  test('The record of a scanner is not read when only the state of the finding changes', async () => {
    await imported()
    const plan = await db.sql<{ 'QUERY PLAN': string }>(
      `explain (analyze) update vulnerabilities set state = 'gone', gone_at = now() where workspace = 'once'`,
    )
    expect(plan.rows.map((row) => row['QUERY PLAN']).join('\n')).not.toContain('finding_stored_once')
  })

  test('The record of a scanner is not written again by an unchanged sighting', async () => {
    await imported()
    const pages = (): Promise<number> =>
      asSuperuser(async (client) => {
        const { rows } = await client.query<{ n: number }>(
          `select pg_relation_size(reltoastrelid) as n from pg_class where oid = 'vulnerabilities'::regclass`,
        )
        return Number(rows[0]?.n)
      }, db.url)
    await imported()
    const before = await pages()
    for (let round = 0; round < 20; round += 1) await imported()
    expect(await pages()).toBe(before)
    expect(await found()).toMatchObject({ raw_vuln_json: written() })
  })
})
