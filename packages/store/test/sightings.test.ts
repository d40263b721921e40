import { randomUUID } from 'node:crypto'
import { beforeEach, expect, test } from '@jest/globals'
import type { AssetContent, FindingContent } from '@scanfarm/contracts'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { asSuperuser, testDatabase } from './database.ts'
import { assetOf, findingOf } from './fixtures.ts'

const db = forAllTests(() => testDatabase())
beforeEach(() => db.sql('truncate vulnerabilities, assets, event_logs cascade'))

const LONG = 'x'.repeat(300)
const findings = (count: number): FindingContent[] =>
  Array.from({ length: count }, (_, no) =>
    findingOf({
      vuln_info: `rule-${no % 7}`,
      asset_value: `https://h${no}.example/`,
      vuln_desc: LONG,
      detail_http_request: `GET /${no} ${LONG}`,
      detail_http_response: `HTTP/1.1 200 ${LONG}`,
      raw_vuln_json: JSON.stringify({ request: `GET /${no} ${LONG}`, response: `HTTP/1.1 200 ${LONG}` }),
    }),
  )
const assets = (count: number): AssetContent[] =>
  Array.from({ length: count }, (_, no) =>
    assetOf({
      asset_type: 'port',
      asset_value: `10.0.0.${no}:22`,
      host_ip: `10.0.0.${no}`,
      title: 'ssh',
      technologies: ['OpenSSH'],
      open_ports: ['22'],
      raw_json_data: '{}',
    }),
  )

const importFindings = (items: FindingContent[]) =>
  db.store.vulnerabilities.import('w', 'nuclei', items, { of: randomUUID(), no: 1 })
const counts = (changes: Partial<Record<string, number>>) => ({
  new: 0,
  updated: 0,
  unchanged: 0,
  known: 0,
  merged: 0,
  errors: 0,
  ...changes,
})
/** Where each record is stored: a row that is written again is at another place. */
const places = (table: string): Promise<string[]> =>
  asSuperuser(
    async (client) =>
      (
        await client.query<{ at: string }>(`select id || ' ' || ctid::text as at from ${table} order by id`)
      ).rows.map(({ at }) => at),
    db.url,
  )
const list = async () => (await db.store.vulnerabilities.list({}, { offset: 0, limit: 500 })).data

test('A second import of the same findings writes none of them again, and counts them as seen', async () => {
  const items = findings(250)
  expect(await importFindings(items)).toEqual(counts({ new: 250 }))
  const [before] = await list()
  const stored = await places('vulnerabilities')
  expect(await importFindings(items)).toEqual(counts({ unchanged: 250, known: 250 }))
  expect(await places('vulnerabilities')).toEqual(stored)
  const [after] = await list()
  expect(after).toEqual({
    ...before,
    times_seen: 2,
    last_seen: after?.last_seen,
    last_seen_at: after?.last_seen,
  })
  expect(Date.parse(after?.last_seen ?? '')).toBeGreaterThan(Date.parse(before?.last_seen ?? ''))
  const item = items.find(({ asset_value }) => asset_value === after?.asset_value)
  expect(after?.raw_vuln_json).toBe(item?.raw_vuln_json)
})

test('A second import of the same assets writes none of them again', async () => {
  const items = assets(250)
  expect(await db.store.assets.import('w', 'nmap', items)).toEqual(counts({ new: 250 }))
  const stored = await places('assets')
  expect(await db.store.assets.import('w', 'nmap', items)).toEqual(counts({ unchanged: 250, known: 250 }))
  expect(await places('assets')).toEqual(stored)
  const { data } = await db.store.assets.list({}, { offset: 0, limit: 1 })
  expect(data).toMatchObject([{ times_seen: 2 }])
})

test('Of known findings, those that differ are updated', async () => {
  const items = findings(10)
  await importFindings(items)
  const changed = items.map((item, no) => (no === 3 ? { ...item, severity: 'critical' as const } : item))
  expect(await importFindings(changed)).toEqual(counts({ updated: 1, unchanged: 9, known: 10 }))
  expect((await list()).filter(({ severity }) => severity === 'critical')).toMatchObject([{ times_seen: 2 }])
  expect(await importFindings(changed)).toEqual(counts({ unchanged: 10, known: 10 }))
})

test('An import keeps what was changed by hand, and opens a finding whose fix was claimed', async () => {
  const items = findings(3)
  await importFindings(items)
  const ids = (await list()).map(({ id }) => id)
  await db.store.triage.change(ids.slice(0, 1), { state: 'gone' }, 'admin')
  await db.store.triage.change(ids.slice(1, 2), { add_tags: ['mine'] }, 'admin')
  expect(await importFindings(items)).toEqual(counts({ updated: 1, unchanged: 2, known: 3 }))
  const after = await list()
  expect(after.map(({ state }) => state)).toEqual(['open', 'open', 'open'])
  expect(after.find(({ id }) => id === ids[1])?.tags).toContain('mine')
})

test('Equal results of one import do not change their record at the next import', async () => {
  const [item] = findings(1)
  if (item === undefined) throw new Error('no finding')
  const results = [item, { ...item, severity: 'low' as const }, item]
  expect(await importFindings(results)).toEqual(counts({ new: 1, merged: 2 }))
  const [before] = await list()
  expect(await importFindings(results)).toEqual(counts({ unchanged: 1, known: 1, merged: 2 }))
  expect(await list()).toMatchObject([
    { occurrences: 3, severity: before?.severity, updated_at: before?.updated_at },
  ])
})

test('A conflict in one transaction of an import does not repeat the other one', async () => {
  const conflictOnce = `
    create sequence conflicts;
    create function conflict_once() returns trigger language plpgsql security definer as $$
    begin
      if nextval('public.conflicts') = 1 then raise exception using errcode = '40P01'; end if;
      return new;
    end $$;
    create trigger conflict before insert on vulnerabilities for each row
      when (new.asset_value = 'https://h0.example/') execute function conflict_once()`
  await db.sql(conflictOnce)
  expect(await importFindings(findings(300))).toEqual(counts({ new: 300 }))
})

test('Concurrent imports of the same findings save each once', async () => {
  const items = findings(300)
  await importFindings(items.slice(0, 150))
  const all = await Promise.all(Array.from({ length: 4 }, () => importFindings(items)))
  expect(all.reduce((sum, one) => sum + one.new, 0)).toBe(150)
  expect((await list()).map(({ times_seen }) => times_seen)).toEqual([
    ...Array.from({ length: 150 }, () => 4),
    ...Array.from({ length: 150 }, () => 5),
  ])
})
