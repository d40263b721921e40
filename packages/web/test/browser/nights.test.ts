import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { until } from '@scanfarm/testing'
import { type Page, useConsole } from './harness.ts'

const farm = useConsole({
  modules: {
    // Scans the web server of the test. A path `slow` cannot be tested.
    prober: `
kind: module
name: prober
params:
  - {name: port, required: true, scope: false}
steps:
  - name: probe
    type: bash
    on_error: continue
    command: |
      site=127.0.0.1/{{port}} bash -s <<'SCRIPT'
      : > found.jsonl
      while read -r path id severity; do
        exec 3<>/dev/tcp/$site
        printf 'GET /%s HTTP/1.0\\r\\n\\r\\n' "$path" >&3
        read -r _ status _ <&3
        exec 3>&-
        [ "$status" != 503 ] || exit 1
        [ "$status" != 200 ] || printf '{"template-id": "%s", "info": {"name": "%s", "severity": "%s"}, "matched-at": "http://127.0.0.1/%s", "host": "127.0.0.1", "type": "http"}\\n' "$id" "$id" "$severity" "$path" >> found.jsonl
      done <<'CHECKS'
      .env served-env critical
      .git/HEAD served-git high
      files/ listing medium
      backup.zip served-backup high
      CHECKS
      SCRIPT
  - name: import
    type: function
    function: db_import_vuln_from_file("", "found.jsonl")
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

/** The web server that the nights scan: what it serves, and the path at which it fails. */
const served = new Set<string>()
let failing = ''
/** Answers that wait, while the server holds them back. */
let held: (() => void)[] | undefined
const site = createServer(({ url = '' }, response) => {
  const path = url.slice(1)
  const answer = () => response.writeHead(path === failing ? 503 : served.has(path) ? 200 : 404).end()
  if (held) held.push(answer)
  else answer()
})
beforeAll(async () => {
  site.listen(0, '127.0.0.1')
  await once(site, 'listening')
})
afterAll(() => {
  site.close()
})

const createSchedule = async (name: string): Promise<string> => {
  const { data } = await farm().api.POST('/schedules', {
    body: {
      name,
      workflow_name: 'prober',
      workflow_kind: 'module',
      trigger_type: 'cron',
      schedule: '0 3 * * *',
      input_config: { target: '127.0.0.1' },
      params: { port: String((site.address() as AddressInfo).port) },
      workspace: name,
    },
  })
  return data.data.id
}

/** One night: the schedule runs now, and its job has ended and is counted. */
const night = async (id: string): Promise<string> => {
  const { data } = await farm().api.POST('/schedules/{id}/trigger', { params: { path: { id } } })
  await until(async () => {
    const { data: nights } = await farm().api.GET('/nights')
    return nights.data.some(({ last }) => last?.job_id === data.job_id)
  })
  return data.job_id
}

const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name })

test('Three nights show what is new, gone, back and not tested, and keep the verdict of the second', async () => {
  const id = await createSchedule('dmz-nightly')
  await createSchedule('never-run')
  served.add('.env').add('files/')
  await night(id)
  served.add('.git/HEAD').delete('files/')
  const second = await night(id)
  const page = await farm().open('/')
  const dmz = row(page, 'dmz-nightly')
  await dmz.getByText('clean').waitFor()
  const cells = async () =>
    (await dmz.getByRole('cell').allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' '))
  const [, , found, back, gone, open, untested] = await cells()
  expect([found, back, gone, open, untested]).toEqual([
    'H 1 high',
    '–',
    'M 1 medium',
    'C 1 critical H 1 high',
    '–',
  ])
  await row(page, 'never-run').getByText('never ran').waitFor()
  // A narrow window shows all counts without scrolling.
  await page.setViewportSize({ width: 375, height: 800 })
  for (const name of ['1 critical', '1 medium']) {
    const box = await dmz.getByRole('link', { name }).boundingBox()
    expect((box?.x ?? 400) + (box?.width ?? 0)).toBeLessThan(375)
  }
  await page.setViewportSize({ width: 1280, height: 800 })

  const opened = page.context().waitForEvent('page')
  await dmz.getByRole('link', { name: 'Report of dmz-nightly' }).click()
  const paper = await opened
  await paper.getByRole('heading', { name: 'Report of dmz-nightly' }).waitFor()
  // It is read on a phone, too: nothing is cut off, and no column is narrower than a word.
  await paper.setViewportSize({ width: 375, height: 800 })
  expect(await paper.evaluate(() => document.documentElement.scrollWidth)).toBe(375)
  const title = await paper.getByRole('cell', { name: 'served-git' }).boundingBox()
  expect(title?.width).toBeGreaterThan(200)

  // The list behind a count has the same findings.
  await dmz.getByRole('link', { name: '1 high' }).first().click()
  await page.waitForURL(`**/changes?job=${second}&change=new`)
  await page.getByRole('link', { name: 'served-git' }).waitFor()
  expect(await page.getByRole('columnheader', { name: 'Why' }).count()).toBe(0)
  await page.goto(`/jobs/${second}`)
  const report = page.getByRole('link', { name: 'report', exact: true })
  expect(await report.getAttribute('href')).toBe(`/api/reports/jobs/${second}`)
  await page.goto(`/changes?job=${second}&change=new`)
  await page.getByRole('radio', { name: /Gone 1/ }).check()
  await page.getByRole('link', { name: 'listing' }).waitFor()
  await page.getByRole('columnheader', { name: 'Why' }).waitFor()

  await page.goto('/findings?workspace=dmz-nightly')
  await row(page, 'served-git').waitFor()
  for (const key of ['j', 'x', 'f']) await page.keyboard.press(key)
  await page.getByLabel('Reason').fill('a page of the test')
  await page.getByRole('button', { name: 'Change 1 finding' }).click()
  await row(page, 'served-env').waitFor({ state: 'detached' })

  // A night that did not do all of its work is not good, although its run completed.
  served.add('files/')
  failing = 'backup.zip'
  await night(id)
  await page.goto('/')
  await dmz.getByText('partial').waitFor()
  expect(await dmz.locator('.badge').getAttribute('class')).toContain('tone-warn')
  expect((await cells())[3]).toBe('M 1 medium')
  // Critical and high ones; the false positive is not open.
  expect((await cells())[5]).toBe('H 1 high')
  expect((await cells())[6]).toContain('1 of 1 target')
  await page.goto('/jobs')
  await page.getByRole('row').filter({ hasText: 'prober' }).first().getByText('partial').waitFor()
  await page.goto('/triggers')
  await page.getByRole('row').filter({ hasText: 'dmz-nightly' }).getByText('partial').waitFor()

  // Without a choice, the changes are those of the last night, of the first kind that has any.
  await page.goto('/changes')
  await page.getByRole('radio', { name: /Back 1/, checked: true }).waitFor()
  await page.getByRole('link', { name: 'listing' }).waitFor()
  await page.getByRole('link', { name: 'The night before' }).click()
  await page.waitForURL(`**/changes?job=${second}`)
  await page.getByRole('link', { name: 'served-git' }).waitFor()

  // While a night runs, the outcome of the last one stays beside its findings.
  held = []
  await farm().api.POST('/schedules/{id}/trigger', { params: { path: { id } } })
  await page.goto('/')
  await dmz.getByText('running').waitFor()
  await dmz.getByText('partial').waitFor()
  const answers = held
  held = undefined
  for (const answer of answers) answer()
  await dmz.getByText('running').waitFor({ state: 'detached' })

  // The third night saw the false positive again, and left it one.
  await page.goto('/findings?workspace=dmz-nightly&state=open,gone')
  await row(page, 'served-env').getByText('false positive').waitFor()
  await page.getByRole('checkbox', { name: /^false positive/ }).waitFor()
  await page.getByRole('link', { name: 'served-env' }).click()
  await page.getByText('a page of the test').waitFor()
  await page.getByRole('tab', { name: 'Runs (4)' }).waitFor()
})

test('More schedules are loaded as one scrolls', async () => {
  for (let n = 0; n < 45; n++) await createSchedule(`nightly-${n}`)
  const { data } = await farm().api.GET('/schedules')
  const page = await farm().open('/changes')
  const names = page.getByRole('region', { name: 'Last runs of the schedules' }).getByRole('rowheader')
  await names.first().waitFor()
  expect(await names.count()).toBeLessThan(data.pagination.total)
  await until(async () => {
    // The last row ends where more are loaded, and moves down when they are.
    await names.last().evaluate((row) => row.scrollIntoView({ block: 'start' }))
    return (await names.count()) === data.pagination.total
  })
  await page.getByText('Loading…').waitFor({ state: 'detached' })
  const links = page.locator('.card-table tbody th > a')
  const all = await links.allInnerTexts()
  const sort = page.getByRole('columnheader', { name: 'Schedule' }).getByRole('button')
  await sort.click()
  await sort.click()
  await page.locator('.card-table [aria-sort=descending]').waitFor()
  const reverse = all.toSorted((a, b) => b.localeCompare(a, undefined, { numeric: true }))
  expect(await links.allInnerTexts()).toEqual(reverse)
  await page.getByRole('columnheader', { name: 'Open critical, high' }).getByRole('button').click()
  await page.locator('.card-table [aria-sort=ascending]', { hasText: 'Open' }).waitFor()
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
