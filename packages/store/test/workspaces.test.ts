import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from '@jest/globals'
import type { AssetContent, ClaimedRun, FindingContent } from '@scanfarm/contracts'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { DEFAULT_ORG } from '../src/index.ts'
import { testDatabase } from './database.ts'
import { assetOf, claimAll, closedStep, ended, findingOf, joined, submitted, wipe } from './fixtures.ts'

const db = forAllTests(() => testDatabase())
beforeEach(async () => {
  await wipe(db.url)
  await db.sql(
    `truncate assets, vulnerabilities cascade; delete from orgs where uuid <> '${DEFAULT_ORG}'; truncate org_workspaces`,
  )
})

const asset = (value: string, type: string): AssetContent => assetOf({ asset_type: type, asset_value: value })
const finding = (title: string, severity: FindingContent['severity']): FindingContent =>
  findingOf({ vuln_info: '', vuln_title: title, severity, confidence: 'Certain', asset_value: title })
const artifact = (path: string, changes: object = {}) => ({
  id: randomUUID(),
  name: path.split('/').at(-1) ?? '',
  path,
  type: 'output' as const,
  contentType: 'txt' as const,
  sizeBytes: 1,
  lineCount: 1,
  description: '',
  storeKey: `k/${path}`,
  sha256: 'f'.repeat(64),
  ...changes,
})

/** One claimed run for each workspace, in order. */
const running = async (...workspaces: string[]): Promise<ClaimedRun[]> => {
  await submitted(
    db.store,
    {},
    workspaces.map((workspace, n) => ({ target: `t${n}.test`, workspace })),
  )
  return claimAll(db.store, db.runStore, await joined(db.runStore))
}

const TEST_MS = 180_000

const PAGE = { offset: 0, limit: 20 }
const names = async (filter = {}, page = {}) =>
  (await db.store.workspaces.list(filter, { ...PAGE, ...page })).data.map(({ name }) => name)

describe('workspaces', () => {
  test('Workspaces are the names that runs, assets and vulnerabilities have, in order, with their counts', async () => {
    const [one] = await running('shop', 'shop')
    if (one === undefined) throw new Error('nothing claimed')
    await db.runStore.finish([ended(one)])
    await db.store.assets.import('shop', 'test', [
      asset('a.shop', 'subdomain'),
      asset('b.shop', 'subdomain'),
      asset('10.0.0.1', 'ip'),
      asset('c.shop', 'http'),
      asset('other', 'technology'),
    ])
    await db.store.vulnerabilities.import('shop', 'test', [
      finding('one', 'high'),
      finding('two', 'high'),
      finding('three', 'info'),
      finding('gone', 'high'),
    ])
    const gone = "update vulnerabilities set state = 'gone', gone_at = now() where vuln_title = 'gone'"
    await db.sql(gone)
    await db.store.assets.import('alone', 'test', [asset('x', 'url')])
    await db.store.vulnerabilities.import('Zoo', 'test', [finding('lion', 'low')])
    const { data, total } = await db.store.workspaces.list({}, PAGE)
    expect(total).toBe(3)
    expect(data.map(({ name }) => name)).toEqual(['Zoo', 'alone', 'shop'])
    const types = { total_subdomains: 2, total_urls: 1, total_ips: 1, total_links: 0, total_content: 0 }
    const severities = { vuln_critical: 0, vuln_high: 2, vuln_medium: 0, vuln_low: 0, vuln_potential: 1 }
    const of = { data_source: 'local', org_uuid: DEFAULT_ORG, total_runs: 2, run_workflow: 'probe' }
    const sums = { total_assets: 5, total_archive: 0, total_vulns: 3, risk_score: 7.5 }
    expect(data[2]).toMatchObject({ ...of, ...types, ...severities, ...sums })
    expect(data[2]?.last_run).not.toBeNull()
    const imported = {
      data_source: 'imported',
      total_runs: 0,
      total_assets: 1,
      last_run: null,
      run_workflow: '',
    }
    expect(data[1]).toMatchObject(imported)
    expect(data[1]?.id).not.toBe(data[2]?.id)
    expect(await db.store.workspaces.names(2)).toEqual(['Zoo', 'alone'])
    expect(await db.store.workspaces.exists('alone')).toBe(true)
    expect(await db.store.workspaces.exists('al')).toBe(false)
  })

  test('Workspaces can be filtered by a part of the name, by source and by organisation, page by page', async () => {
    await running('a_1', 'a_2', 'b%1')
    await db.store.assets.import('c', 'test', [asset('x', 'url')])
    const org = await db.store.orgs.create({ name: 'Acme', description: '', tags: [] })
    if (typeof org === 'string') throw new Error(org)
    expect(await db.store.orgs.assign(org.uuid, ['a_2', 'c', 'c'])).toBe(2)
    expect(await names({ search: 'A_' })).toEqual(['a_1', 'a_2'])
    expect(await names({ search: '%' })).toEqual(['b%1'])
    expect(await names({ search: '\0' })).toEqual([])
    expect(await names({ source: 'imported' })).toEqual(['c'])
    expect(await names({ source: 'cloud' })).toEqual([])
    expect(await names({ org: org.uuid })).toEqual(['a_2', 'c'])
    expect(await names({ org: DEFAULT_ORG, search: 'a' })).toEqual(['a_1'])
    const first = await db.store.workspaces.list({}, { offset: 0, limit: 3 })
    const second = await db.store.workspaces.list({}, { offset: 0, limit: 3, cursor: first.nextCursor ?? '' })
    expect([...first.data, ...second.data].map(({ name }) => name)).toEqual(['a_1', 'a_2', 'b%1', 'c'])
    expect(second.nextCursor).toBeUndefined()
    expect(await names({}, { offset: 1, limit: 1 })).toEqual(['a_2'])
  })
})

describe('organisations', () => {
  test(
    'The workspaces of the default organisation are listed in time, however many the others have',
    async () => {
      const acme = await db.store.orgs.create({ name: 'Acme', description: '', tags: [] })
      if (typeof acme === 'string') throw new Error(acme)
      await running('free')
      await db.sql(
        `insert into org_workspaces select 'w' || n, '${acme.uuid}' from generate_series(1, 400000) n`,
      )
      expect(await names({ org: DEFAULT_ORG })).toEqual(['free'])
    },
    TEST_MS,
  )

  test('The default organisation has all unassigned workspaces and cannot be removed', async () => {
    await running('a', 'b')
    await db.store.assets.import('b', 'test', [asset('x', 'url'), asset('y', 'url')])
    await db.store.vulnerabilities.import('a', 'test', [finding('one', 'low')])
    const acme = await db.store.orgs.create({ name: 'Acme', description: 'd', tags: ['t'] })
    if (typeof acme === 'string') throw new Error(acme)
    expect(acme).toMatchObject({ name: 'Acme', description: 'd', tags: ['t'], is_default: false })
    expect(await db.store.orgs.create({ name: 'acme', description: '', tags: [] })).toBe('taken')
    expect(await db.store.orgs.create({ uuid: acme.uuid, name: 'x', description: '', tags: [] })).toBe(
      'taken',
    )
    await db.store.orgs.assign(acme.uuid, ['b', 'empty'])
    expect(await db.store.orgs.find('ACME')).toEqual(acme)
    expect(await db.store.orgs.find(acme.uuid)).toEqual(acme)
    expect(await db.store.orgs.find('unknown')).toBeUndefined()
    const all = await db.store.orgs.list()
    expect(all.map(({ stats }) => stats)).toEqual([
      {
        org_uuid: DEFAULT_ORG,
        org_name: 'default',
        total_workspaces: 1,
        total_assets: 0,
        total_vulns: 1,
        total_runs: 1,
        workspaces: ['a'],
      },
      {
        org_uuid: acme.uuid,
        org_name: 'Acme',
        total_workspaces: 2,
        total_assets: 2,
        total_vulns: 0,
        total_runs: 1,
        workspaces: ['b', 'empty'],
      },
    ])
    expect(await db.store.orgs.stats(acme)).toEqual(all[1]?.stats)
    expect(await db.store.orgs.change(acme.uuid, { name: 'Acme 2' })).toMatchObject({
      name: 'Acme 2',
      description: 'd',
      tags: ['t'],
    })
    expect(await db.store.orgs.change(acme.uuid, { name: 'Default' })).toBe('taken')
    expect(await db.store.orgs.assign(DEFAULT_ORG, ['empty'])).toBe(1)
    expect(await db.store.orgs.remove(DEFAULT_ORG)).toBe(false)
    expect(await db.store.orgs.remove(acme.uuid)).toBe(true)
    expect(await db.store.orgs.remove(acme.uuid)).toBe(false)
    expect(await names({ org: DEFAULT_ORG })).toEqual(['a', 'b'])
  })

  test('Runs, assets and vulnerabilities can be filtered by organisation', async () => {
    await running('a', 'b', 'c')
    for (const workspace of ['a', 'b']) {
      await db.store.assets.import(workspace, 'test', [asset('x', 'url')])
      await db.store.vulnerabilities.import(workspace, 'test', [finding('one', 'low')])
    }
    const acme = await db.store.orgs.create({ name: 'Acme', description: '', tags: [] })
    if (typeof acme === 'string') throw new Error(acme)
    await db.store.orgs.assign(acme.uuid, ['b'])
    const workspacesOf = async (org: string) => ({
      runs: (await db.store.runs.list({ org }, PAGE)).data.map((row) => row.workspace),
      running: (await db.store.runs.list({ org, status: 'running' }, PAGE)).total,
      assets: (await db.store.assets.list({ org }, PAGE)).data.map((row) => row.workspace),
      vulnerabilities: (await db.store.vulnerabilities.list({ org }, PAGE)).data.map((row) => row.workspace),
    })
    expect(await workspacesOf(acme.uuid)).toEqual({
      runs: ['b'],
      running: 1,
      assets: ['b'],
      vulnerabilities: ['b'],
    })
    expect(await workspacesOf(DEFAULT_ORG)).toEqual({
      runs: ['c', 'a'],
      running: 2,
      assets: ['a'],
      vulnerabilities: ['a'],
    })
  })
})

describe('steps and artifacts of all runs', () => {
  test('Steps are listed by run, newest first, and in order within a run, with filters and pages', async () => {
    const [one, two] = await running('a', 'b')
    if (one === undefined || two === undefined) throw new Error('nothing claimed')
    await db.runStore.finish([
      ended(one, 'completed', {
        steps: [closedStep(1), closedStep(2, { status: 'failed', errorMessage: 'no' })],
      }),
      ended(two, 'completed', {
        steps: [closedStep(1, { type: 'function', logFile: 'log' }), closedStep(2)],
      }),
    ])
    const steps = async (filter = {}, page = {}) => db.store.runs.stepResults(filter, { ...PAGE, ...page })
    const places = async (filter = {}, page = {}) =>
      (await steps(filter, page)).data.map((row) => [row.run_id, row.step_name])
    const all = [
      [two.runId, 'step-1'],
      [two.runId, 'step-2'],
      [one.runId, 'step-1'],
      [one.runId, 'step-2'],
    ]
    expect(await places()).toEqual(all)
    const first = await steps({}, { limit: 3 })
    expect(first.total).toBe(4)
    expect(await places({}, { cursor: first.nextCursor })).toEqual(all.slice(3))
    expect(await places({ workspaces: ['b'] })).toEqual(all.slice(0, 2))
    expect(await places({ run: one.runUuid })).toEqual(all.slice(2))
    expect(await places({ run: String(one.runId) })).toEqual(all.slice(2))
    expect(await places({ run: 'none' })).toEqual([])
    expect(await places({ types: ['function'] })).toEqual([[two.runId, 'step-1']])
    const [failed] = (await steps({ statuses: ['failed'] })).data
    expect(failed).toMatchObject({ run_uuid: one.runUuid, error: 'no', error_message: 'no', log_file: '' })
    expect((await steps({ types: ['function'] })).data[0]?.log_file).toMatch(/^\/runs\/.*\/log$/)
  })

  test('An artifact is found by its path below the workspace: the newest one of that workspace', async () => {
    const [one, two, other] = await running('shop', 'shop', 'other')
    if (one === undefined || two === undefined || other === undefined) throw new Error('nothing claimed')
    const path = '/data/workspaces/shop/vuln/result.txt'
    await db.runStore.finish([
      ended(one, 'completed', { artifacts: [artifact(path), artifact('/tmp/notes.md', { type: 'report' })] }),
      ended(two, 'completed', { artifacts: [artifact(path, { description: 'newer' })] }),
      ended(other, 'completed', { artifacts: [artifact('/data/workspaces/other/shop/secret.txt')] }),
    ])
    const at = async (workspace: string, below: string) =>
      (await db.store.runs.artifactAt(workspace, below))?.run_id
    expect(await at('shop', 'vuln/result.txt')).toBe(two.runId)
    expect(await at('shop', 'tmp/notes.md')).toBe(one.runId)
    expect(await at('shop', 'secret.txt')).toBeUndefined()
    expect(await at('shop', 'result.txt')).toBeUndefined()
    expect(await at('shop', '../other/shop/secret.txt')).toBeUndefined()
    expect(await at('other', 'shop/secret.txt')).toBe(other.runId)
    expect(await at('other', '\0')).toBeUndefined()
    const list = async (filter = {}) =>
      (await db.store.runs.allArtifacts(filter, PAGE)).data.map((row) => [row.workspace, row.name])
    expect(await list({ types: ['report'] })).toEqual([['shop', 'notes.md']])
    expect(await list({ search: 'NEWER' })).toEqual([['shop', 'result.txt']])
    expect(await list({ workspaces: ['other'] })).toEqual([['other', 'secret.txt']])
    expect(await list()).toHaveLength(4)
  })
})
