import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { AssetContent, FindingContent } from '@scanfarm/contracts'
import { asSuperuser, testDatabase, type TestDatabase } from './database.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await testDatabase()
})
afterAll(() => db[Symbol.asyncDispose]())
const sql = (text: string) => asSuperuser((client) => client.query(text), db.url)
beforeEach(async () => {
  await sql('truncate vulnerabilities, assets, event_logs')
})

const finding = (changes: Partial<FindingContent> = {}): FindingContent => ({
  vuln_info: 'CVE-2026-1',
  vuln_title: 'Old library',
  vuln_desc: '',
  vuln_poc: '',
  severity: 'high',
  confidence: 'Firm',
  asset_type: 'web',
  asset_value: 'https://a.example/login',
  tags: ['web'],
  detail_http_request: '',
  detail_http_response: '',
  raw_vuln_json: '',
  ...changes,
})

const asset = (changes: Partial<AssetContent> = {}): AssetContent => ({
  asset_type: 'http',
  asset_value: 'a.example',
  url: 'https://a.example',
  host_ip: '',
  scheme: 'https',
  status_code: 200,
  title: 'Hello',
  content_type: '',
  technologies: ['nginx'],
  open_ports: [],
  dns_records: [],
  remarks: [],
  raw_json_data: '',
  ...changes,
})

const page = { offset: 0, limit: 20 }
const list = async (filter: Parameters<typeof db.store.vulnerabilities.list>[0] = {}) =>
  (await db.store.vulnerabilities.list(filter, page)).data
const topics = async () => (await db.store.events.list({}, { offset: 0, limit: 100 })).data

describe('importing vulnerabilities', () => {
  test('updates what has the identity, and tells of new ones only', async () => {
    const { vulnerabilities } = db.store
    expect(await vulnerabilities.import('w', 'nuclei', [finding()])).toEqual({
      new: 1,
      updated: 0,
      unchanged: 0,
      errors: 0,
    })
    expect(await vulnerabilities.import('w', 'nuclei', [finding()])).toMatchObject({ new: 0, unchanged: 1 })
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

  test('keeps apart what differs in workspace, what, where or type', async () => {
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

  test('makes a new one each time of what names no place', async () => {
    const loose = [finding({ asset_value: '' }), finding({ vuln_info: '', vuln_title: '' })]
    await db.store.vulnerabilities.import('w', 'x', loose)
    await db.store.vulnerabilities.import('w', 'x', loose)
    expect(await list()).toHaveLength(4)
  })

  test('doubles nothing and deadlocks nowhere when many import the same at once', async () => {
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

  test('takes hostile text as it is, but for what no database holds', async () => {
    const text = `'; drop table vulnerabilities; -- \0 \ud800 {{x}} $(id) \u{1f980}`
    await db.store.vulnerabilities.import('w', 'x', [finding({ vuln_title: text, tags: [text] })])
    const [only] = await list()
    const kept = `'; drop table vulnerabilities; --  \ufffd {{x}} $(id) \u{1f980}`
    expect(only).toMatchObject({ vuln_title: kept, tags: [kept] })
  })
})

describe('a vulnerability made by hand', () => {
  test('is always new; the next import updates the first, or its heir when that is deleted', async () => {
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

describe('the list of vulnerabilities', () => {
  test('combines all filters', async () => {
    const { vulnerabilities } = db.store
    await vulnerabilities.import('w', 'x', [
      finding(),
      finding({ severity: 'low', asset_value: 'https://a.example/100%_sure\\x' }),
      finding({ severity: 'low', confidence: 'Tentative', asset_value: 'tcp://b:1' }),
    ])
    await vulnerabilities.import('v', 'y', [finding({ severity: 'info' })])
    const count = async (filter: Parameters<typeof vulnerabilities.list>[0]) => (await list(filter)).length
    expect(await count({ workspaces: ['w'] })).toBe(3)
    expect(await count({ workspaces: ['w', 'v'] })).toBe(4)
    expect(await count({ severities: ['low', 'info'] })).toBe(3)
    expect(await count({ severities: ['low'], confidences: ['Tentative'] })).toBe(1)
    expect(await count({ assetValue: 'A.EXAMPLE/LOG' })).toBe(2)
    expect(await count({ assetValue: '%_sure\\' })).toBe(1)
    expect(await count({ assetValue: '%' })).toBe(1)
    expect(await count({ assetValue: 'a.example', workspaces: ['v'], severities: ['info'] })).toBe(1)
    expect(await count({ assetValue: 'a.example', workspaces: ['v'], severities: ['low'] })).toBe(0)
    expect(await count({ workspaces: ['\0'] })).toBe(0)
    expect(await count({ source: 'y', state: 'open' })).toBe(1)
    expect(await count({ state: 'gone' })).toBe(0)
    expect(await vulnerabilities.summary({ workspaces: ['w'] })).toEqual({
      critical: 0,
      high: 1,
      medium: 0,
      low: 2,
      info: 0,
    })
  })
})

describe('assets', () => {
  test('are discovered once and updated when they change; what is not told again is kept', async () => {
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

  test('are filtered and summed up', async () => {
    const { assets } = db.store
    await assets.import('w', 'httpx', [
      asset(),
      asset({
        asset_type: 'port',
        asset_value: 'a.example:22',
        url: '',
        status_code: 0,
        open_ports: ['22'],
        technologies: ['openssh'],
      }),
    ])
    const count = async (filter: Parameters<typeof assets.list>[0]) => (await assets.list(filter, page)).total
    expect(await count({ statusCodes: [200, 301] })).toBe(1)
    expect(await count({ technology: 'openssh', port: '22', assetTypes: ['port', 'ip'] })).toBe(1)
    expect(await count({ workspaces: ['v'] })).toBe(0)
    expect(await assets.stats(['w'])).toEqual({
      technologies: ['nginx', 'openssh'],
      sources: ['httpx'],
      remarks: [],
      asset_types: ['http', 'port'],
    })
  })
})
