import { expect, test } from '@jest/globals'
import { until } from '@scanfarm/testing'
import { type Page, useConsole } from './harness.ts'

const farm = useConsole({
  modules: {
    finder: `
kind: module
name: finder
params:
  - {name: found, default: '', scope: false}
  - {name: code, default: '0', scope: false}
steps:
  - name: write
    type: bash
    command: printf '%s' '{{found}}' > found.jsonl
  - name: import
    type: function
    function: db_import_vuln_from_file("", "found.jsonl")
  - name: probe
    type: bash
    on_error: continue
    command: exit {{code}}
`,
    summing: `
kind: module
name: summing
steps:
  - name: write
    type: bash
    command: |
      mkdir -p {{Output}}
      printf '# web.test\\n\\n## ports\\n\\n| port | name |\\n| --- | --- |\\n| 23 | <b>telnet</b> |\\n\\n[a](javascript:alert(1))\\n' > {{Output}}/summary.md
reports:
  - {name: summary, path: '{{Output}}/summary.md', type: markdown}
`,
  },
})

const lines = (...found: readonly (readonly [id: string, severity: string])[]): string =>
  found
    .map(([id, severity]) =>
      JSON.stringify({
        'template-id': id,
        info: { name: id, severity },
        'matched-at': 'https://web.test/',
        host: 'https://web.test',
        type: 'http',
      }),
    )
    .join('\n')

const createSchedule = async (name: string): Promise<string> => {
  const { data } = await farm().api.POST('/schedules', {
    body: {
      name,
      workflow_name: 'finder',
      workflow_kind: 'module',
      trigger_type: 'cron',
      schedule: '0 3 * * *',
      input_config: { target: 'web.test' },
      workspace: name,
    },
  })
  return data.data.id
}

/** One night: the schedule runs now, and its job has ended and is counted. */
const night = async (id: string, params: Record<string, string>): Promise<string> => {
  const path = { path: { id } }
  await farm().api.PUT('/schedules/{id}', { params: path, body: { params } })
  const { data } = await farm().api.POST('/schedules/{id}/trigger', { params: path })
  await until(async () => {
    const { data: nights } = await farm().api.GET('/nights')
    return nights.data.some(({ last }) => last?.job_id === data.job_id)
  })
  return data.job_id
}

const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name })

test('The first page shows for each schedule what is new, back and gone, what is open and what was not tested', async () => {
  const id = await createSchedule('dmz-nightly')
  await createSchedule('never-run')
  await night(id, { found: lines(['telnet', 'high'], ['old-tls', 'medium']) })
  const second = await night(id, {
    found: lines(['telnet', 'high'], ['served-env', 'critical']),
  })
  const page = await farm().open('/')
  const dmz = row(page, 'dmz-nightly')
  await dmz.getByText('clean').waitFor()
  const cells = async () =>
    (await dmz.getByRole('cell').allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' '))
  const [, , found, back, gone, open, untested] = await cells()
  expect([found, back, gone, open, untested]).toEqual([
    'C 1 critical',
    '–',
    'M 1 medium',
    'C 1 critical H 1 high',
    '–',
  ])
  await row(page, 'never-run').getByText('never ran').waitFor()

  // The list behind a count has the same findings.
  await dmz.getByRole('link', { name: '1 critical' }).first().click()
  await page.waitForURL(`**/changes?job=${second}&change=new`)
  await page.getByRole('link', { name: 'served-env' }).waitFor()
  await page.getByRole('radio', { name: /Gone 1/ }).check()
  await page.getByRole('link', { name: 'old-tls' }).waitFor()

  // A night that did not do all of its work is not good, although its run completed.
  await night(id, {
    found: lines(['telnet', 'high'], ['served-env', 'critical'], ['old-tls', 'medium']),
    code: '1',
  })
  await page.goto('/')
  await dmz.getByText('partial').waitFor()
  expect(await dmz.locator('.badge').getAttribute('class')).toContain('tone-warn')
  expect((await cells())[3]).toBe('M 1 medium')
  expect((await cells())[6]).toContain('1 of 1 target')
  await page.goto('/jobs')
  await page.getByRole('row').filter({ hasText: 'finder' }).first().getByText('partial').waitFor()
  await page.goto('/triggers')
  await page.getByRole('row').filter({ hasText: 'dmz-nightly' }).getByText('partial').waitFor()

  // Without a choice, the changes are those of the last night.
  await page.goto('/changes')
  await page.getByRole('radio', { name: /Back 1/ }).check()
  await page.getByRole('link', { name: 'old-tls' }).waitFor()
})

test('The summary of a run is shown as a document, in which the texts of tools stay texts', async () => {
  const job = await farm().finish('summing', ['web.test'])
  const { data } = await farm().api.GET('/runs', { params: { query: { job_id: job } } })
  const page = await farm().open(`/runs/${data.data[0]?.run_uuid}?tab=artifacts`)
  await page.getByRole('button', { name: 'summary' }).click()
  const document = page.getByRole('region', { name: /Content of/ })
  await document.getByRole('heading', { name: 'ports' }).waitFor()
  await document.getByRole('cell', { name: '<b>telnet</b>' }).waitFor()
  await document.getByText('[a](javascript:alert(1))').waitFor()
  expect(await document.getByRole('link').count()).toBe(0)
})
