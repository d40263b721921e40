import { createHash } from 'node:crypto'
import { expect, test } from '@jest/globals'
import { type FindingContent, NOTHING_REPORTED, NO_WORK } from '@scanfarm/contracts'
import { reportPage } from '@scanfarm/findings'
import { testServer } from '../_server.ts'
import { claimLocalRuns, endRun } from '../_worker.ts'
import { findingOf } from '@scanfarm/store/testing'
import { forAllTests } from '@scanfarm/testing/for-all-tests'

const server = forAllTests(() => testServer())

const HOSTILE = `<script>alert(1)</script><img src=x onerror=alert(1)>"'&\u202e`

const found = (title: string, severity: FindingContent['severity'], more: Partial<FindingContent> = {}) =>
  findingOf({
    vuln_info: `check-${severity}`,
    vuln_title: title,
    severity,
    confidence: 'Firm',
    asset_type: 'url',
    asset_value: 'https://a.test/',
    ...more,
  })

/** A job on two targets: the second one does only a part of its work. */
const scan = async (items: readonly ReturnType<typeof found>[]): Promise<string> => {
  const { body } = await server.operator
    .post('/api/runs')
    .send({
      module: 'probe',
      targets: ['a.test', 'b.test'],
      concurrency: 10,
      workspace: 'dmz',
      run_mode: 'local',
    })
    .expect(202)
  const [first, second] = await claimLocalRuns(server.runStore)
  if (!first || !second) throw new Error('two runs were to be claimed')
  const open = await report(`jobs/${body.job_id}`)
  expect(open.text).toContain('2 runs of the job had not ended')
  await server.runStore.importRecords(first, {
    step: 'import',
    workspace: 'dmz',
    source: 'workflow',
    errors: 0,
    records: { kind: 'vulnerability', items },
  })
  await endRun(server.runStore, first, {}, { tally: { ...NO_WORK, worked: true } })
  const reasons = [`step check of module tls failed: it hung up ${HOSTILE}`]
  const tally = { ...NO_WORK, worked: true, failedSteps: 1, reasons }
  await endRun(server.runStore, second, {}, { tally })
  await server.store.scans.judge({ limit: 10, history: 3 })
  await server.store.jobs.settle(0, 100)
  return body.job_id as string
}

const report = async (path: string) => {
  const { text, headers } = await server.viewer.get(`/api/reports/${path}`).expect(200)
  return { text, policy: headers['content-security-policy'], type: headers['content-type'] }
}

test('A report has coverage, counts, changes, ages and issues with advice, and hostile texts stay texts', async () => {
  await server.viewer.get('/api/reports/workspaces/dmz').expect(404)
  const advice = JSON.stringify({
    remediation: `Close the port ${HOSTILE}`,
    reference: ['https://advice.test/'],
  })
  const telnet = found('Telnet is open', 'high', { vuln_desc: 'Anyone can read it.', raw_vuln_json: advice })
  const env = found(HOSTILE, 'critical', { vuln_desc: HOSTILE, asset_value: `https://a.test/${HOSTILE}` })
  await scan([telnet, found('Old TLS', 'medium')])
  const job = await scan([telnet, env])
  const { text, policy, type } = await report(`jobs/${job}`)
  expect(type).toContain('text/html')
  expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[^']+'; .*sandbox/)
  // The one style of the page is the one that the policy allows, in the header and in the page itself.
  const [, style = ''] = /<style>([^<]*)<\/style>/.exec(text) ?? []
  const hash = createHash('sha256').update(style).digest('base64')
  expect(policy).toContain(`'sha256-${hash}'`)
  expect(text).toContain(`&#39;sha256-${hash}&#39;`)
  for (const words of [
    'All steps were done for 1 of 2 targets.',
    'Not scanned completely (1)',
    'it hung up',
    'New (1)',
    'Gone (1)',
    'Old TLS',
    'Telnet is open',
    'Anyone can read it.',
    'What to do:',
    'Close the port',
    'https://advice.test/',
    '&lt;script&gt;alert(1)&lt;/script&gt;',
  ])
    expect(text).toContain(words)
  expect(text).not.toContain('step check')
  // No element, attribute or address comes from a text.
  const allowed =
    /^<(?:!doctype html|\/?(?:html|head|body|main|section|h[1-3]|p|table|thead|tbody|tr|th|td|div|span|strong|style|title|meta)(?: (?:class|scope|lang|charset|name|content|http-equiv)="[^"<>]*")*)(?: \/)?>$/
  expect([...text.matchAll(/<[^<>]*>?/g)].map(([tag]) => tag).filter((tag) => !allowed.test(tag))).toEqual([])
  expect(text).not.toContain('\u202e')
  expect((await report('workspaces/dmz')).text).toContain('Report of dmz')
})

test('A report does not call a job complete whose scans could not test what is open', () => {
  const { changes } = NOTHING_REPORTED
  const facts = { ...NOTHING_REPORTED, outcome: 'clean', clean_count: 1, open_count: 0 } as const
  const page = (high: number) => {
    const counts = { ...changes.counts, not_tested: { high } }
    return reportPage({
      title: 'a',
      madeAt: facts.created_at,
      facts: { ...facts, changes: { ...changes, counts } },
    })
  }
  expect(page(0)).toContain('clean: nothing was left out')
  expect(page(2)).toContain('But 2 open findings could not be tested again.')
  expect(page(2)).not.toContain('clean')
})

test('The report of a schedule is about its last job; without one there is nothing to report', async () => {
  await server.viewer.get('/api/reports/schedules/sch_x').expect(404)
  const { body } = await server.admin
    .post('/api/schedules')
    .send({
      name: 'nightly',
      workflow_name: 'probe',
      workflow_kind: 'module',
      schedule: '0 3 * * *',
      targets: ['c.test'],
      run_mode: 'local',
    })
    .expect(201)
  const path = `/api/reports/schedules/${body.data.id}`
  const refused = await server.viewer.get(path).expect(404)
  expect(refused.body).toMatchObject({
    message: expect.stringContaining('no job of the schedule "nightly" has ended'),
  })
  await server.operator.post(`/api/schedules/${body.data.id}/trigger`).expect(202)
  for (const run of await claimLocalRuns(server.runStore)) await endRun(server.runStore, run)
  await server.store.jobs.settle(0, 100)
  const { text } = await server.viewer.get(path).expect(200)
  expect(text).toContain('Report of nightly')
  expect(text).toContain('Nothing is open.')
})
