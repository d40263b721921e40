import { describe, expect, test } from '@jest/globals'
import type { FindingContent, Vulnerability } from '@scanfarm/contracts'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import type { CveFile } from '../src/findings/enrichment.ts'
import { testDatabase } from './database.ts'
import { findingOf } from './fixtures.ts'

const db = forAllTests(() => testDatabase())

const epss = (...rows: (readonly [cve: string, score: number])[]): CveFile => ({
  kind: 'epss',
  version: 'v1',
  published: '2026-11-27',
  rows: rows.map(([cve, score]) => ({ cve, score, percentile: score })),
})
const kev = (...rows: (readonly [cve: string, due: string | null])[]): CveFile => ({
  kind: 'kev',
  version: '1',
  published: '',
  rows: rows.map(([cve, due]) => ({ cve, due, added: '2026-01-01' })),
})

const imported = (workspace: string, ...items: Partial<FindingContent>[]): Promise<unknown> =>
  db.store.vulnerabilities.import(workspace, 'nuclei', items.map(findingOf))
const listed = async (
  workspace: string,
  filter: { kev?: boolean; min_epss?: number } = {},
  sort?: 'priority' | '-priority' | 'epss',
): Promise<Vulnerability[]> =>
  (await db.store.vulnerabilities.list({ workspace: [workspace], ...filter }, { offset: 0, limit: 50, sort }))
    .data
const only = async (workspace: string): Promise<Vulnerability> => {
  const [one, ...others] = await listed(workspace)
  if (one === undefined || others.length > 0) throw new Error('not one finding')
  return one
}

test('Files about CVEs are kept, and replaced by the next of their kind', async () => {
  await db.store.enrichment.load(
    epss(['CVE-2026-7001', 0.2], ['CVE-2026-7001', 0.3], ['CVE-2026-7002', 1]),
    'user:ann',
  )
  await db.store.enrichment.load(kev(['CVE-2026-7001', null]), 'user:ann')
  await db.store.enrichment.load(epss(['CVE-2026-7001', 0.4]), 'token:ci')
  expect(await db.store.enrichment.list()).toEqual([
    {
      kind: 'epss',
      version: 'v1',
      published: '2026-11-27',
      cves: 1,
      loaded_at: expect.any(String),
      loaded_by: 'token:ci',
    },
    {
      kind: 'kev',
      version: '1',
      published: '',
      cves: 1,
      loaded_at: expect.any(String),
      loaded_by: 'user:ann',
    },
  ])
})

test('Findings that were there before a file, and those that come after it, have the same of it', async () => {
  const found = { vuln_info: 'CVE-2026-1001', tags: ['cve-2026-1002', 'GHSA-1'], asset_value: 'http://h' }
  await imported('before', found)
  expect(await only('before')).toMatchObject({
    cves: ['CVE-2026-1001', 'CVE-2026-1002'],
    epss: null,
    kev: false,
  })
  expect(
    await db.store.enrichment.load(epss(['CVE-2026-1001', 0.1], ['CVE-2026-1002', 0.75]), 'user:ann'),
  ).toBe(1)
  expect(
    await db.store.enrichment.load(
      kev(['CVE-2026-1001', '2026-12-24'], ['CVE-2026-1002', '2026-12-01']),
      'user:ann',
    ),
  ).toBe(1)
  await imported('after', found)
  for (const workspace of ['before', 'after'])
    expect(await only(workspace)).toMatchObject({
      epss: 0.75,
      epss_percentile: 0.75,
      kev: true,
      kev_due: '2026-12-01',
    })
  // A file that does not name them any more takes it back.
  await db.store.enrichment.load(kev(['CVE-2026-9999', null]), 'user:ann')
  expect(await only('before')).toMatchObject({ epss: 0.75, kev: false, kev_due: null })
})

test('A tag that a person adds or removes names a CVE', async () => {
  await db.store.enrichment.load(epss(['CVE-2026-2001', 0.5]), 'user:ann')
  await imported('tagged', { vuln_info: 'old-server', tags: [], asset_value: 'http://h' })
  const { id } = await only('tagged')
  await db.store.triage.change([id], { add_tags: ['CVE-2026-2001'] }, 'user:ann')
  expect(await only('tagged')).toMatchObject({ cves: ['CVE-2026-2001'], epss: 0.5 })
  await db.store.triage.change([id], { remove_tags: ['CVE-2026-2001'] }, 'user:ann')
  expect(await only('tagged')).toMatchObject({ cves: [], epss: null })
})

test('Filters and orders read what files say', async () => {
  await db.store.enrichment.load(epss(['CVE-2026-3001', 0.009], ['CVE-2026-3002', 0.3]), 'user:ann')
  await db.store.enrichment.load(kev(['CVE-2026-3003', null]), 'user:ann')
  await imported(
    'filters',
    { vuln_info: 'CVE-2026-3001', severity: 'critical', asset_value: 'http://10.0.0.1' },
    { vuln_info: 'CVE-2026-3002', severity: 'high', asset_value: 'http://10.0.0.1' },
    { vuln_info: 'CVE-2026-3003', severity: 'medium', asset_value: 'http://10.0.0.1' },
    { vuln_info: 'weak', severity: 'critical', asset_value: 'https://shop.example.com' },
  )
  const names = (rows: readonly Vulnerability[]): string[] => rows.map(({ vuln_info }) => vuln_info)
  expect(names(await listed('filters', { kev: true }))).toEqual(['CVE-2026-3003'])
  expect(await listed('filters', { kev: false })).toHaveLength(3)
  expect(names(await listed('filters', { min_epss: 0.1 }))).toEqual(['CVE-2026-3002'])
  expect(names(await listed('filters', {}, 'epss')).slice(0, 2)).toEqual(['CVE-2026-3002', 'CVE-2026-3001'])
  const byPriority = ['weak', 'CVE-2026-3003', 'CVE-2026-3001', 'CVE-2026-3002']
  expect(
    names(await listed('filters', {}, 'priority'))
      .slice(0, 2)
      .sort(),
  ).toEqual(byPriority.slice(0, 2).sort())
  expect((await listed('filters', {}, 'priority')).map(({ priority }) => priority.score)).toEqual([
    50, 50, 40, 40,
  ])
  expect((await listed('filters', {}, '-priority')).map(({ priority }) => priority.score)).toEqual([
    40, 40, 50, 50,
  ])
})

describe('A priority says why', () => {
  test('by the severity of a person, the files and the place', async () => {
    await db.store.enrichment.load(epss(['CVE-2026-4001', 0.9435]), 'user:ann')
    await db.store.enrichment.load(kev(['CVE-2026-4001', '2026-12-24']), 'user:ann')
    await imported('why', {
      vuln_info: 'CVE-2026-4001',
      severity: 'low',
      asset_value: 'https://shop.example.com/login',
    })
    const { id, priority } = await only('why')
    expect(priority).toEqual({
      score: 70,
      why: [
        { factor: 'severity', points: 10, text: 'low' },
        { factor: 'kev', points: 30, text: 'known to be exploited, CISA wants it fixed by 2026-12-24' },
        {
          factor: 'epss',
          points: 20,
          text: '94.35 % probability of exploitation within 30 days, at least that of 94.4 % of all CVEs',
        },
        { factor: 'exposure', points: 10, text: 'public address or name' },
      ],
    })
    await db.store.triage.change([id], { severity: 'critical' }, 'user:ann')
    expect((await only('why')).priority).toMatchObject({
      score: 100,
      why: [{ points: 40, text: 'critical; the scanner reported low' }, {}, {}, {}],
    })
  })

  test.each([
    ['https://shop.example.com/', 'web', 10],
    ['8.8.8.8:53/udp', 'network', 10],
    ['[2606:4700::1111]:443', 'network', 10],
    ['http://10.1.2.3:8080/', 'web', 0],
    ['172.31.0.1', 'network', 0],
    ['172.32.0.1', 'network', 10],
    ['[::1]:443', 'network', 0],
    ['[fd00::1]:443', 'network', 0],
    ['http://localhost:3000', 'web', 0],
    ['db', 'network', 0],
    ['intern.corp', 'network', 0],
    ['h.test', 'network', 0],
    ['src/a.com:12', 'file', 0],
    ['package-lock.json:lodash@4.17.20', 'package', 0],
    ['', '', 0],
  ])('%s of the type %s is exposed by %s points', async (asset_value, asset_type, points) => {
    const { priority } = await db.store.vulnerabilities.create(
      'exposure',
      findingOf({ asset_value, asset_type }),
    )
    expect(priority.why.at(-1)).toMatchObject({ factor: 'exposure', points })
  })
})
