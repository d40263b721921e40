import { describe, expect, test } from '@jest/globals'
import type { FindingContent, Vulnerability } from '@scanfarm/contracts'
import { findingOf } from '@scanfarm/store/testing'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { testServer } from '../_server.ts'

const server = forAllTests(() => testServer())

const finding = (vuln_info: string, changes: Partial<FindingContent> = {}): FindingContent =>
  findingOf({
    vuln_info,
    vuln_title: `Title of ${vuln_info}`,
    asset_value: 'https://a.example/x',
    ...changes,
  })
const found = (workspace: string, items: FindingContent[], source = 'nuclei') =>
  server.store.vulnerabilities.import(workspace, source, items)

const add = async (body: object): Promise<{ id: number; changed: number }> => {
  const answer = await server.operator.post('/api/finding-rules').send(body).expect(201)
  return { id: answer.body.data.id as number, changed: answer.body.changed as number }
}
const change = (ref: number | string, body: object) =>
  server.operator.patch(`/api/finding-rules/${encodeURIComponent(ref)}`).send(body)
const remove = (ref: number | string) =>
  server.operator.delete(`/api/finding-rules/${encodeURIComponent(ref)}`)
const read = async (workspace: string): Promise<Record<string, Vulnerability>> => {
  const { body } = await server.viewer.get(`/api/vulnerabilities?workspace=${workspace}`).expect(200)
  return Object.fromEntries((body.data as Vulnerability[]).map((one) => [one.vuln_info, one]))
}

describe('rules', () => {
  test('A rule decides about present and future findings, and its removal takes that back', async () => {
    await found('effects', [finding('one'), finding('two', { severity: 'low' })])
    const rule = await add({
      name: 'Test hosts',
      match: { workspace: 'effects', severity: ['high', 'critical'] },
      set: { verdict: 'false_positive', reason: 'lab', tags: ['lab'], assignee: 'ann' },
    })
    expect(rule.changed).toBe(1)
    await found('effects', [finding('three'), finding('four', { severity: 'info' })])
    const set = { verdict: 'false_positive', reason: 'lab', decided_by: 'rule:Test hosts', state: 'gone' }
    const after = await read('effects')
    expect(after['one']).toMatchObject({ ...set, tags: ['lab'], assignee: 'ann', seen: 'open' })
    expect(after['three']).toMatchObject({ ...set, tags: ['lab'] })
    expect([after['two'], after['four']]).toMatchObject([
      { verdict: 'none', state: 'open', tags: [] },
      { verdict: 'none', state: 'open', tags: [] },
    ])
    const events = await server.viewer.get('/api/event-logs?topic=vuln.found&workspace=effects').expect(200)
    expect(JSON.stringify(events.body.data)).not.toContain('three')
    const detail = await server.viewer.get(`/api/vulnerabilities/${after['one']?.id}`).expect(200)
    expect(detail.body.data.rules).toEqual([
      { id: rule.id, name: 'Test hosts', sets: ['assignee', 'tags', 'verdict'] },
    ])
    const { body } = await remove('test hosts').expect(200)
    expect(body.changed).toBe(2)
    expect((await read('effects'))['three']).toMatchObject({
      verdict: 'none',
      state: 'open',
      tags: [],
      assignee: '',
    })
  })

  test('For each field the first rule by position decides, and a person wins over all', async () => {
    await found('order', [finding('one'), finding('two')])
    const match = { workspace: 'order' }
    const second = await add({
      name: 'second',
      match,
      set: { verdict: 'confirmed', severity: 'low', tags: ['b'] },
    })
    const first = await add({ name: 'first', position: 0, match, set: { severity: 'critical', tags: ['a'] } })
    const { one } = await read('order')
    expect(one).toMatchObject({
      severity: 'critical',
      verdict: 'confirmed',
      tags: ['a', 'b'],
      scan_severity: 'high',
    })
    await server.operator
      .patch(`/api/vulnerabilities/${one?.id}`)
      .send({ verdict: 'none', severity: 'info', remove_tags: ['a'] })
      .expect(200)
    await change(second.id, {
      position: 1_000,
      set: { verdict: 'false_positive', severity: 'medium' },
    }).expect(200)
    await found('order', [finding('one', { vuln_desc: 'more', severity: 'medium' })])
    const after = await read('order')
    expect(after['one']).toMatchObject({
      verdict: 'none',
      severity: 'info',
      tags: [],
      decided_by: 'token:operator',
    })
    expect(after['two']).toMatchObject({ verdict: 'false_positive', severity: 'critical', tags: ['a'] })
    const listed = await server.viewer.get('/api/finding-rules').expect(200)
    expect(listed.body.data).toMatchObject([
      { id: first.id, name: 'first', findings: 2 },
      { id: second.id, name: 'second', findings: 2, set: { verdict: 'false_positive', severity: 'medium' } },
    ])
    await server.operator.patch(`/api/vulnerabilities/${one?.id}`).send({ verdict: null }).expect(200)
    expect((await read('order'))['one']).toMatchObject({
      verdict: 'false_positive',
      decided_by: 'rule:second',
    })
    await Promise.all([remove(first.id).expect(200), remove('second').expect(200)])
  })

  test.each([
    [{ check: 'CVE-2020-*' }, ['cve-2020-1']],
    [{ title: '*OF CVE-2020-?' }, ['cve-2020-1']],
    [{ asset: '10.1.0.0/16' }, ['inside']],
    [{ asset: '2001:db8::/32' }, ['six']],
    [{ asset: '10.1.*' }, ['inside', '10.1.2.300']],
    [{ asset: '*.b.example' }, ['host']],
    [{ asset: 'https://x.b.example/_' }, ['host']],
    [{ asset: 'https://x.b.example/%' }, []],
    [{ tool: 'NMAP' }, ['inside']],
    [{ tool: 'gosec' }, ['tagged']],
    [{ severity: ['info'], tool: 'nuclei' }, ['six']],
    [{ workspace: 'other*' }, []],
  ])('%j matches %j', async (match, expected) => {
    await found('matching', [
      finding('cve-2020-1'),
      finding('host', { asset_value: 'https://x.b.example/_' }),
      finding('six', { asset_value: 'https://[2001:db8::1]:8443/', severity: 'info' }),
      finding('tagged', { tags: ['gosec'], asset_type: 'file', asset_value: 'a.go:1' }),
      finding('10.1.2.300', { asset_value: '10.1.2.300', vuln_title: 'no address' }),
    ])
    await found('matching', [finding('inside', { asset_value: '10.1.2.3:80' })], 'nmap')
    const { body } = await server.operator
      .post('/api/finding-rules/preview')
      .send({ match: { workspace: 'matching', ...match }, set: { tags: ['x'] } })
      .expect(200)
    const names = (body.data.findings as { after: { vuln_info: string } }[]).map(
      ({ after }) => after.vuln_info,
    )
    expect(names).toEqual(expected)
  })

  test('A preview shows what would change, and changes nothing', async () => {
    await found('preview', [finding('one')])
    await found('preview', [finding('two', { severity: 'low' })])
    const body = { match: { workspace: 'preview' }, set: { verdict: 'confirmed', severity: 'low' } }
    const before = await read('preview')
    const answer = await server.operator.post('/api/finding-rules/preview').send(body).expect(200)
    expect(answer.body.data).toMatchObject({
      matched: 2,
      complete: true,
      changed: 2,
      findings: [
        {
          id: before['two']?.id,
          before: { verdict: 'none' },
          after: { verdict: 'confirmed', severity: 'low' },
        },
        { id: before['one']?.id, before: { severity: 'high' }, after: { severity: 'low', state: 'open' } },
      ],
    })
    expect(await read('preview')).toEqual(before)
    const { id } = await add({ ...body, name: 'kept' })
    const none = await server.operator.post('/api/finding-rules/preview?rule=kept').send(body).expect(200)
    expect(none.body.data).toMatchObject({ matched: 2, changed: 0, findings: [] })
    await remove(id).expect(200)
  })

  test('An acceptance of a rule ends at its time, and rules match findings that change', async () => {
    await found('ends', [finding('one', { severity: 'low' })])
    const until = new Date(Date.now() + 3_600_000).toISOString()
    const { id } = await add({
      name: 'until',
      match: { workspace: 'ends', severity: ['high'] },
      set: { verdict: 'accepted', until, reason: 'soon' },
    })
    expect((await read('ends'))['one']).toMatchObject({ verdict: 'none', state: 'open' })
    await found('ends', [finding('one', { severity: 'high' })])
    expect((await read('ends'))['one']).toMatchObject({ verdict: 'accepted', until, state: 'gone' })
    await remove(id).expect(200)
    expect((await read('ends'))['one']).toMatchObject({ verdict: 'none', until: null, state: 'open' })
  })

  const good = { name: 'rule', match: { title: '*' }, set: { tags: ['x'] } }
  test.each([
    [{ ...good, name: '12' }, '/name'],
    [{ ...good, match: {} }, '/match'],
    [{ ...good, match: { asset: '10.0.0.0/33' } }, '/match/asset'],
    [{ ...good, match: { severity: ['bad'] } }, '/match/severity/0'],
    [{ ...good, set: {} }, '/set'],
    [{ ...good, set: { verdict: 'fixed_claimed' } }, '/set/verdict'],
    [{ ...good, set: { reason: 'alone' } }, '/set/verdict'],
    [{ ...good, set: { verdict: 'accepted', until: '2020-01-01' } }, '/set/until'],
    [{ ...good, set: { verdict: 'confirmed', until: '2999-01-01' } }, '/set/until'],
    [{ name: 'rule', match: { title: '*' } }, '/set'],
  ])('%j answers 400', async (body, path) => {
    const answer = await server.operator.post('/api/finding-rules').send(body).expect(400)
    expect(answer.body.details).toEqual(expect.arrayContaining([expect.objectContaining({ path })]))
  })

  test('A farm has at most 200 rules', async () => {
    const before = (await server.store.rules.list()).length
    await server.database.sql(
      `insert into finding_rules (name, position, workspace_glob, reason, tags, created_by)
           select 'many ' || n, n, 'nowhere', '', '{x}', 'test' from generate_series(1, $1::int) n`,
      [200 - before],
    )
    const { body } = await server.operator.post('/api/finding-rules').send(good).expect(409)
    expect(JSON.stringify(body)).toContain('there are 200 rules')
    await remove('many 1').expect(200)
    const { id } = await add({ ...good, match: { workspace: 'nowhere' } })
    await remove(id).expect(200)
    await server.database.sql("delete from finding_rules where name like 'many %'")
  })

  test('Names are unique, unknown rules are not found, and viewers change nothing', async () => {
    const { id } = await add({ ...good, name: 'Unique', match: { workspace: 'nowhere' } })
    const { body } = await server.operator
      .post('/api/finding-rules')
      .send({ ...good, name: 'unique' })
      .expect(409)
    expect(JSON.stringify(body)).toContain('there is already a rule')
    await change('nobody', { position: 1 }).expect(404)
    await remove(999_999).expect(404)
    await server.viewer.get('/api/finding-rules/UNIQUE').expect(200)
    await server.viewer.delete(`/api/finding-rules/${id}`).expect(403)
    await server.viewer.post('/api/finding-rules').send(good).expect(403)
    await remove(id).expect(200)
  })
})
