import { beforeAll, describe, expect, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import type { FindingContent, Vulnerability } from '@scanfarm/contracts'
import type { FindingChange } from '../src/findings/triage.ts'
import { testDatabase } from './database.ts'
import { claimAll, ended, findingOf, joined, keyOf, submitted } from './fixtures.ts'

const db = forAllTests(testDatabase)
let workerId: string
beforeAll(async () => {
  workerId = await joined(db.runStore)
})

/** A workspace with one finding, and what happens to it. */
const openFinding = async (workspace: string, first: Partial<FindingContent> = {}) => {
  const item = findingOf({ asset_value: 'http://h', ...first })
  const read = async (): Promise<Vulnerability> => {
    const { data } = await db.store.vulnerabilities.list({ workspace: [workspace] }, { offset: 0, limit: 2 })
    if (data[0] === undefined || data.length > 1) throw new Error(`${data.length} findings`)
    return data[0]
  }
  /** A complete scan, which sees the finding or not. */
  const scan = async (
    seen: Partial<FindingContent> | undefined,
    status: 'completed' | 'failed' = 'completed',
    reached?: readonly string[],
  ): Promise<Vulnerability> => {
    await submitted(db.store, {}, [{ target: 'a.test', workspace }])
    const [run] = await claimAll(db.store, db.runStore, workerId)
    if (run === undefined) throw new Error('nothing claimed')
    const items = seen === undefined ? [] : [{ ...item, ...seen }]
    const records = { kind: 'vulnerability', items } as const
    await db.runStore.importRecords(keyOf(run), {
      step: 's',
      workspace,
      source: 'nuclei',
      records,
      errors: 0,
      ...(reached === undefined ? {} : { reached }),
    })
    await db.runStore.finish([ended(run, status)])
    await db.store.scans.judge({ limit: 10, history: 5 })
    return await read()
  }
  const decide = async (change: FindingChange): Promise<Vulnerability> => {
    await db.store.triage.change([id], change, 'user:ann')
    return await read()
  }
  const events = async (): Promise<string[]> => {
    const { rows } = await db.sql<{ topic: string }>(
      "select topic from event_logs where workspace = $1 and topic like 'vuln.%' order by id",
      [workspace],
    )
    return rows.map(({ topic }) => topic)
  }
  const { id } = await scan({})
  return { id, read, scan, decide, events }
}

const inAnHour = (): string => new Date(Date.now() + 3_600_000).toISOString()
const query = (text: string, values: unknown[]): Promise<unknown> => db.sql(text, values)

describe('verdicts and scans', () => {
  test('A false positive stays one when scans see it, miss it and see it again, without events', async () => {
    const it = await openFinding('false-positive')
    const decided = await it.decide({ verdict: 'false_positive', reason: 'a test page' })
    const verdict = {
      verdict: 'false_positive',
      reason: 'a test page',
      decided_by: 'user:ann',
      decided_at: decided.decided_at,
      state: 'gone',
    }
    expect(decided).toMatchObject({ ...verdict, seen: 'open', gone_at: expect.any(String) })
    expect(await it.scan({})).toMatchObject({ ...verdict, seen: 'open', times_seen: 2 })
    expect(await it.scan(undefined)).toMatchObject({ ...verdict, seen: 'gone' })
    expect(await it.scan({ vuln_desc: 'more' })).toMatchObject({
      ...verdict,
      seen: 'open',
      vuln_desc: 'more',
    })
    expect(await it.events()).toEqual(['vuln.found'])
    expect(await it.decide({ verdict: null })).toMatchObject({ verdict: 'none', reason: '', state: 'open' })
    expect(await it.events()).toEqual(['vuln.found', 'vuln.found'])
  })

  test('A claimed fix that a scan sees again is back, with one event, until it is gone or claimed again', async () => {
    const it = await openFinding('fixed')
    expect(await it.decide({ verdict: 'fixed_claimed' })).toMatchObject({ state: 'gone', back_at: null })
    const back = await it.scan({})
    expect(back).toMatchObject({ verdict: 'fixed_claimed', state: 'open', back_at: expect.any(String) })
    expect(await it.scan({ vuln_desc: 'more' })).toMatchObject({ back_at: back.back_at })
    expect(await it.events()).toEqual(['vuln.found', 'vuln.found', 'vuln.back'])
    expect(await it.decide({ verdict: 'fixed_claimed' })).toMatchObject({ state: 'gone', back_at: null })
    expect(await it.scan({})).toMatchObject({ back_at: expect.any(String) })
    expect(await it.scan(undefined)).toMatchObject({ verdict: 'fixed_claimed', state: 'gone', back_at: null })
    expect(await it.scan({})).toMatchObject({
      verdict: 'fixed_claimed',
      state: 'open',
      back_at: expect.any(String),
    })
  })

  test('An accepted finding is open again when its time is over, unless it is gone', async () => {
    const it = await openFinding('accepted')
    const gone = await openFinding('accepted-gone')
    const until = inAnHour()
    expect(await it.decide({ verdict: 'accepted', until })).toMatchObject({ state: 'gone', until })
    await gone.decide({ verdict: 'accepted', until })
    await gone.scan(undefined)
    expect(await db.store.triage.expire(10)).toBe(0)
    await query(
      `update vulnerabilities set decision = jsonb_set(decision, '{verdict,until}', to_jsonb(now() - interval '1 s'))
       where id = any($1)`,
      [[it.id, gone.id]],
    )
    expect(await db.store.triage.expire(10)).toBe(2)
    expect(await db.store.triage.expire(10)).toBe(0)
    expect(await it.read()).toMatchObject({ verdict: 'none', until: null, state: 'open' })
    expect(await gone.read()).toMatchObject({ verdict: 'none', seen: 'gone', state: 'gone' })
    expect(await it.events()).toEqual(['vuln.found', 'vuln.found'])
    expect((await db.store.triage.history(it.id))[0]).toMatchObject({
      changed_by: 'expiry',
      changes: { verdict: { from: 'accepted', to: 'none' }, state: { from: 'gone', to: 'open' } },
    })
  })

  test('A finding says why the last scan did not see it, and stays open without proof that it is gone', async () => {
    const it = await openFinding('seen')
    expect(await it.scan(undefined, 'failed')).toMatchObject({
      seen: 'not_tested',
      state: 'open',
      seen_reason: expect.stringMatching(/^module \S+ in run \d+: the run failed$/),
    })
    expect(await it.scan(undefined, 'completed', ['other'])).toMatchObject({
      seen: 'unreachable',
      state: 'open',
      seen_reason: expect.stringMatching(/ did not reach h$/),
    })
    expect(await it.scan({})).toMatchObject({ seen: 'open', seen_reason: '' })
    expect(await it.scan(undefined, 'completed', ['h'])).toMatchObject({
      seen: 'gone',
      state: 'gone',
      seen_reason: expect.stringMatching(/^\S+ check \S+ of module \S+ reached h in run \d+$/),
    })
    expect(await it.scan(undefined, 'failed')).toMatchObject({ seen: 'gone' })
    expect(await it.events()).toEqual(['vuln.found'])
  })

  test('Severity, tags and assignee of a person outlast scans, and can be taken back', async () => {
    const it = await openFinding('own', { severity: 'low', tags: ['http', 'noise'] })
    await it.decide({ severity: 'critical', add_tags: ['pci'], remove_tags: ['noise'], assignee: 'bob' })
    const own = { severity: 'critical', assignee: 'bob', state: 'open' }
    expect(await it.scan({ severity: 'medium', tags: ['noise', 'tls'] })).toMatchObject({
      ...own,
      scan_severity: 'medium',
      tags: ['tls', 'pci'],
    })
    expect(await it.decide({ tags: ['only'] })).toMatchObject({ ...own, tags: ['only'] })
    const listed = await db.store.vulnerabilities.list(
      { severity: ['critical'], assignee: 'bob', verdict: ['none'], seen: ['open'], back: false },
      { offset: 0, limit: 9 },
    )
    expect(listed.data.map(({ id }) => id)).toEqual([it.id])
    expect(await it.decide({ severity: null, tags: null, assignee: null })).toMatchObject({
      severity: 'medium',
      tags: ['noise', 'tls'],
      assignee: '',
    })
  })

  test('Comments and decisions stay in the history when scans change the finding often', async () => {
    const it = await openFinding('history')
    await it.decide({
      verdict: 'confirmed',
      reason: 'seen by me',
      comment: 'ask Bob',
      ticket: 'https://t.example/1',
    })
    for (let n = 0; n < 60; n++)
      await query(`update vulnerabilities set seen = 'not_tested' where id = $1`, [it.id]).then(() =>
        query(`update vulnerabilities set seen = 'open' where id = $1`, [it.id]),
      )
    const history = await db.store.triage.history(it.id)
    expect(history).toHaveLength(102)
    expect(history.slice(-2)).toMatchObject([
      { changed_by: 'user:ann', comment: 'ask Bob', changes: {} },
      {
        changed_by: 'user:ann',
        changes: { verdict: { from: 'none', to: 'confirmed' }, ticket: { from: '' } },
      },
    ])
  })
})
