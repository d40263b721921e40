import { expect, test } from '@jest/globals'
import { until } from '@scanfarm/testing'
import { type Locator, type Page, refusalOf, useConsole } from './harness.ts'
import { NARROW, resize, WIDE } from './screens.ts'

const farm = useConsole({
  modules: {
    // What it finds is its param, as lines of JSON.
    finder: `
kind: module
name: finder
params:
  - {name: found, required: true, scope: false}
  - {name: assets, default: '', scope: false}
steps:
  - name: write
    type: bash
    command: printf '%s' '{{found}}' > found.jsonl; printf '%s' '{{assets}}' > assets.jsonl
  - name: record
    type: function
    functions:
      - db_import_vuln_from_file("", "found.jsonl")
      - db_import_asset_from_file("", "assets.jsonl")
`,
  },
})

interface Found {
  readonly id: string
  readonly severity?: string
}

const lineOf = ({ id, severity = 'low' }: Found): string =>
  JSON.stringify({
    'template-id': id,
    info: { name: `Title of ${id}`, severity, reference: ['https://advisory.test/1', 'javascript:alert(1)'] },
    host: 'https://one.test',
    'matched-at': 'https://one.test/login',
    request: 'GET /login HTTP/1.1',
  })

/** Imports findings as a scanner's file. */
const importAll = async (workspace: string, found: readonly Found[]): Promise<void> => {
  await farm().api.POST('/vulnerabilities/import', {
    params: { query: { workspace, format: 'nuclei' } },
    body: found.map(lineOf).join('\n'),
    bodySerializer: (body) => body,
    headers: { 'Content-Type': 'application/octet-stream' },
  })
}

const rows = (page: Page) => page.getByRole('rowgroup').getByRole('row')
const row = (page: Page, id: string) => rows(page).filter({ hasText: `Title of ${id}` })
const statesOf = async (workspace: string): Promise<Record<string, string>> => {
  const query = { workspace, state: 'open,gone' }
  const { data } = await farm().api.GET('/vulnerabilities', { params: { query } })
  return Object.fromEntries(data.data.map(({ vuln_info, state }) => [vuln_info, state]))
}

test('Findings are triaged in bulk with the mouse, by keyboard, and all that match a filter', async () => {
  const ids = ['a', 'b', 'c', 'd']
  await importAll('bulk', [...ids.map((id) => ({ id })), { id: 'e', severity: 'high' }])
  const page = await farm().open('/findings?workspace=bulk')

  await row(page, 'a').getByRole('checkbox').check()
  await row(page, 'b').getByRole('checkbox').check()
  await page.getByText('2 selected').waitFor()
  await page.getByRole('button', { name: 'Triage t' }).click()
  await page.getByRole('radio', { name: 'False positive' }).check()
  await page.getByLabel('Reason').fill('a test page')
  await page.getByRole('button', { name: 'Change 2 findings' }).click()
  await page.getByText('2 findings changed.').waitFor()
  await row(page, 'a').waitFor({ state: 'detached' })
  expect(await statesOf('bulk')).toMatchObject({ a: 'gone', b: 'gone', c: 'open', d: 'open', e: 'open' })

  const second = (await rows(page).nth(1).getByRole('link').first().textContent()) ?? ''
  await page.locator('body').press('j')
  for (const key of ['j', 'x', 't']) await page.keyboard.press(key)
  await page.getByRole('dialog').waitFor()
  await page.getByRole('radio', { name: 'Comment' }).focus()
  for (const key of ['ArrowDown', 'Tab']) await page.keyboard.press(key)
  await page.keyboard.type('false-alarm, seen')
  await page.keyboard.press('Enter')
  await page.getByText('1 finding changed.').waitFor()
  await page.goto('/findings?workspace=bulk&tag=false-alarm')
  await rows(page).getByRole('link', { name: second }).waitFor()
  expect(await rows(page).count()).toBe(1)

  await page.goto('/findings?workspace=bulk')
  await page.getByRole('checkbox', { name: /low/ }).check()
  await row(page, 'e').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Triage all 2' }).click()
  await page.getByRole('radio', { name: /Delete/ }).check()
  await page.getByRole('button', { name: 'Delete 2 findings' }).click()
  await page.getByText('2 findings changed.').waitFor()
  await page.getByText('No finding matches these filters.').waitFor()
  expect(await statesOf('bulk')).toEqual({ a: 'gone', b: 'gone', e: 'open' })
})

test('More than 1,000 findings are changed in steps', async () => {
  await importAll(
    'many',
    Array.from({ length: 1_203 }, (_, index) => ({ id: `n${index}` })),
  )
  const page = await farm().open('/findings?workspace=many')
  await page.getByRole('button', { name: 'Triage all 1,203' }).click()
  await page.getByRole('radio', { name: 'Mark as fixed' }).check()
  await page.getByRole('button', { name: 'Change 1,203 findings' }).click()
  await page.getByText('1,203 findings changed.').waitFor()
  await page.getByRole('link', { name: 'Closed 1,203' }).waitFor()
})

test('Findings are in the order of severity, sorted, grouped and loaded as one scrolls, and a host has a page', async () => {
  const many = Array.from({ length: 130 }, (_, index) => ({ id: `n${index}` }))
  await importAll('lists', [{ id: 'z', severity: 'critical' }, ...many])
  const page = await farm().open('/findings?workspace=lists')
  await row(page, 'z').and(page.locator('[aria-rowindex="2"]')).waitFor()
  await page.waitForFunction(() => {
    const list = document.querySelector('.table-scroll')
    list?.scrollTo(0, list.scrollHeight)
    return list?.querySelector('[aria-rowindex="132"]') !== null
  })
  const head = page.getByRole('columnheader', { name: 'Finding' })
  await head.getByRole('button').click()
  await row(page, 'n0').and(page.locator('[aria-rowindex="2"]')).waitFor()
  await head.getByRole('button').click()
  await row(page, 'z').and(page.locator('[aria-rowindex="2"]')).waitFor()
  expect(await head.getAttribute('aria-sort')).toBe('descending')
  await page.waitForURL('**sort=-title')

  // Keys work after a click on a facet.
  await page.getByRole('checkbox', { name: /critical/ }).check()
  await row(page, 'n129').waitFor({ state: 'detached' })
  for (const key of ['j', 'Enter']) await page.keyboard.press(key)
  await page.getByRole('heading', { name: 'Title of z' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.locator('input[type="search"]:focus').waitFor()
  await page.keyboard.type('title of z')
  await page.getByRole('option', { name: 'Title of z' }).first().waitFor()

  await page.goto('/findings?workspace=lists')
  await page.getByLabel('Group by').selectOption('check')
  await page.getByText('131 in all').waitFor()
  await rows(page).first().getByRole('link', { name: 'Title of z' }).click()
  await page.waitForURL('**check=z**')
  await page.getByLabel('Group by').selectOption('host')
  await rows(page).getByRole('link', { name: 'one.test' }).click()
  await page.waitForURL('**host=one.test**')
  const { data: critical } = await farm().api.GET('/vulnerabilities', {
    params: { query: { workspace: 'lists', severity: 'critical' } },
  })
  const change = { verdict: 'false_positive' } as const
  for (const { id } of critical?.data ?? [])
    await farm().api.PATCH('/vulnerabilities/{id}', { params: { path: { id: String(id) } }, body: change })
  await page.goto('/hosts/one.test')
  await page.getByRole('heading', { name: 'one.test', exact: true }).waitFor()
  await page.getByRole('table', { name: 'Open findings of the host' }).waitFor()
  await rows(page).first().waitFor()
  expect(await row(page, 'z').count()).toBe(0)
  await page.getByRole('tab', { name: 'Gone' }).click()
  await row(page, 'z').waitFor()
  await page.getByRole('tab', { name: 'Ports (0)' }).click()
  await page.getByText('No scan found an open port.').waitFor()

  const telnet = {
    vuln_info: 'telnet',
    severity: 'high',
    asset_type: 'network',
    asset_value: 'two.test:23',
  } as const
  await farm().api.POST('/vulnerabilities', { body: { workspace: 'lists', ...telnet } })
  await page.goto('/findings?workspace=lists&severity=high')
  await page.getByRole('link', { name: 'two.test:23' }).click()
  await page.getByRole('heading', { name: 'two.test', exact: true }).waitFor()
})

test('A finding shows its evidence, links only to web pages, and keeps its history', async () => {
  await importAll('one', [{ id: 'first' }, { id: 'second' }])
  const page = await farm().open('/findings?workspace=one')
  await row(page, 'second').waitFor()
  const [first = '', next = ''] = await rows(page).getByRole('link', { name: 'Title' }).allTextContents()
  await page.getByRole('link', { name: first }).click()
  await page.getByRole('heading', { name: first }).waitFor()
  expect(await page.getByRole('region', { name: 'Request' }).textContent()).toBe('GET /login HTTP/1.1')
  await page
    .getByRole('list', { name: 'Why it has this priority' })
    .getByText(/^\+\d+ /)
    .first()
    .waitFor()
  const link = page.getByRole('link', { name: 'https://advisory.test/1' })
  expect(await link.getAttribute('rel')).toBe('noreferrer noopener')
  expect(await page.locator('a[href^="javascript:"]').count()).toBe(0)

  await page.locator('body').press('t')
  await page.getByRole('radio', { name: 'Accept the risk' }).check()
  await page.getByLabel('Until').fill('2999-03-01')
  await page.getByLabel('Reason').fill('replaced in March')
  await page.getByRole('button', { name: 'Change 1 finding' }).click()
  await page.getByText('accepted by token').waitFor()
  await page.getByText('replaced in March').waitFor()
  await page.getByLabel('Add a tag').fill('checked')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByRole('link', { name: 'checked' }).waitFor()
  await page.getByRole('tab', { name: 'History (2)' }).click()
  await page.getByText('state: open → gone').waitFor()

  await page.getByRole('button', { name: 'Triage t' }).click()
  await page.getByRole('radio', { name: /Open again/ }).check()
  await page.getByRole('button', { name: 'Change 1 finding' }).click()
  await page.getByText('none by token').waitFor()
  // The list has the finding again.
  await page.getByText('1 of 2').waitFor()
  await page.locator('body').press('j')
  await page.getByRole('heading', { name: next }).waitFor()
  await page.keyboard.press('u')
  await page.waitForURL('**/findings?workspace=one')
})

test('A key chooses the verdict of the selected findings', async () => {
  await importAll('keys', [{ id: 'a' }, { id: 'b' }])
  const page = await farm().open('/findings?workspace=keys')
  await row(page, 'a').waitFor()
  await page.locator('body').press('j')
  for (const key of ['x', 'f']) await page.keyboard.press(key)
  await page.getByRole('radio', { name: 'False positive', checked: true }).waitFor()
  await page.getByLabel('Reason').press('Enter')
  await page.getByText('1 finding changed.').waitFor()
  await page.goto('/findings?workspace=keys&state=open,gone&verdict=false_positive')
  await rows(page).getByText('false positive').waitFor()
  expect(await rows(page).count()).toBe(1)
})

test('On a narrow screen a button unfolds the filters, and says how many are set', async () => {
  await importAll('folded', [{ id: 'one' }])
  const page = await farm().open('/findings?workspace=folded&severity=high', { size: NARROW })
  const [search, values] = [page.getByLabel('Title, identifier or asset'), page.getByText('Filter by value')]
  const button = page.getByRole('button', { name: 'Filters, 2 set' })
  await button.waitFor()
  expect(await Promise.all([search.isVisible(), values.isVisible()])).toEqual([false, false])
  await button.click()
  await values.waitFor()
  await search.fill('Title of one')
  await search.press('Enter')
  await page.getByRole('button', { name: 'Filters, 3 set' }).click()
  await search.waitFor({ state: 'hidden' })
  // A wide screen has room for all.
  await resize(page, WIDE)
  await search.waitFor()
  expect(await page.getByRole('button', { name: /^Filters/ }).isVisible()).toBe(false)
})

test('A rule is previewed, added, shown on a finding and removed', async () => {
  await importAll('ruled', [{ id: 'lab-1' }, { id: 'other' }])
  const page = await farm().open('/rules')
  await page.getByText('No rules').waitFor()
  await page.getByRole('button', { name: 'New rule' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Lab')
  await dialog.getByLabel('Check').fill('lab-*')
  await dialog.getByLabel('Verdict').selectOption('false positive')
  await dialog.getByLabel('Reason').fill('not ours')
  // On a small screen too, the button and what it shows are in view.
  await page.setViewportSize({ width: 1280, height: 480 })
  const isInView = async (what: Locator) => {
    const box = await what.boundingBox()
    return box !== null && box.y >= 0 && box.y + box.height <= 480
  }
  await dialog.evaluate((element) => element.scrollTo(0, 0))
  await until(() => isInView(dialog.getByRole('button', { name: 'Preview' })))
  await dialog.getByRole('button', { name: 'Preview' }).click()
  await dialog.getByText('It matches 1 finding and would change 1.').waitFor()
  await until(() => isInView(dialog.getByText('verdict none → false positive')))
  expect(await statesOf('ruled')).toEqual({ 'lab-1': 'open', other: 'open' })
  await dialog.getByRole('button', { name: 'Save the rule' }).click()
  await rows(page).filter({ hasText: 'check: lab-*' }).waitFor()
  expect(await statesOf('ruled')).toEqual({ 'lab-1': 'gone', other: 'open' })
  await page.goto('/findings?workspace=ruled&state=gone')
  await page.getByRole('link', { name: 'Title of lab-1' }).click()
  await page.getByText('false positive by rule Lab').waitFor()
  await page.getByRole('link', { name: 'Lab', exact: true }).click()
  await rows(page).getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('button', { name: 'Remove the rule' }).click()
  await page.getByText('No rules').waitFor()
  expect(await statesOf('ruled')).toEqual({ 'lab-1': 'open', other: 'open' })
})

test('The way to the next finding is busy until the list has arrived', async () => {
  await importAll('late', [{ id: 'first' }, { id: 'second' }])
  const page = await farm().open('/')
  const listed = Promise.withResolvers<void>()
  await page.route(/\/api\/vulnerabilities\?.*limit=100/, async (route) => {
    await listed.promise
    await route.continue()
  })
  const query = { workspace: 'late' }
  const [first] = await farm()
    .api.GET('/vulnerabilities', { params: { query } })
    .then(({ data }) => data.data)
  await page.goto(`/findings/${first?.id}?workspace=late`)
  const neighbours = page.getByRole('navigation', { name: 'List of findings' })
  await neighbours.waitFor()
  expect(await neighbours.getAttribute('aria-busy')).toBe('true')
  listed.resolve()
  await page.locator('nav[aria-label="List of findings"][aria-busy="false"]').waitFor()
  expect(await neighbours.getByText('1 of 2').isVisible()).toBe(true)
})

test('A filter is saved under a name, opened, shared and deleted', async () => {
  await importAll('saved', [{ id: 'x', severity: 'critical' }, { id: 'y' }])
  const page = await farm().open('/findings?workspace=saved')
  await page.getByRole('checkbox', { name: /critical/ }).check()
  await row(page, 'y').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Saved filters' }).click()
  await page.getByLabel('Save the present filter as').fill('Bad ones')
  await page.getByLabel('Everybody sees it').check()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByRole('link', { name: 'Bad ones' }).waitFor()

  const other = await farm().open('/findings', { role: 'viewer' })
  await other.getByRole('button', { name: 'Saved filters' }).click()
  await other.getByRole('link', { name: 'Bad ones' }).click()
  await other.waitForURL('**/findings?**severity=critical**')
  const triage = other.getByRole('button', { name: 'Triage all 1' })
  expect(await refusalOf(triage)).toMatch(/needs the role operator/)
  // Until its answer arrives, the table shows the rows of before.
  await until(async () => (await rows(other).count()) === 1)
  await row(other, 'x').waitFor()

  await page.getByRole('button', { name: 'Delete the filter Bad ones' }).click()
  await page.getByText('None yet.').waitFor()
})

test('A file of a scanner is imported, and its result shown', async () => {
  const page = await farm().open('/findings')
  await page.getByRole('button', { name: 'Import' }).click()
  const upload = (text: string) =>
    page
      .getByLabel('File')
      .setInputFiles({ name: 'found.jsonl', mimeType: 'text/plain', buffer: Buffer.from(text) })
  await upload('not a finding')
  await page.getByRole('dialog').getByLabel('Workspace').fill('imported')
  farm().problems.expect(/POST \/api\/vulnerabilities\/import.*: 400/)
  await page.getByRole('dialog').getByRole('button', { name: 'Import' }).click()
  await page.getByText('its format is not recognised').first().waitFor()
  await page.getByRole('dialog').getByLabel('Format').selectOption('masscan (JSON, list or XML)')
  await page.getByRole('dialog').getByRole('button', { name: 'Import' }).click()
  await page.getByText('it is not valid JSON').first().waitFor()
  await page.getByRole('dialog').getByLabel('Format').selectOption('Recognise by the file')
  await upload(lineOf({ id: 'from-file' }))
  await page.getByRole('dialog').getByRole('button', { name: 'Import' }).click()
  await page.getByText('Imported into imported as nuclei.').waitFor()
  await page.getByRole('link', { name: 'Show the findings of imported' }).click()
  await row(page, 'from-file').waitFor()
})

test('Files of EPSS and CISA KEV are loaded, raise a priority, and are listed; operators only see them', async () => {
  await importAll('enriched', [{ id: 'CVE-2021-44228' }, { id: 'other' }])
  const files = [
    [
      'epss.csv',
      '#model_version:v2025.03.14,score_date:2026-11-27\ncve,epss,percentile\nCVE-2021-44228,0.94,0.99\n',
    ],
    [
      'kev.json',
      JSON.stringify({
        catalogVersion: '2026.11.27',
        vulnerabilities: [{ cveID: 'CVE-2021-44228', dateAdded: '2021-12-10', dueDate: '2021-12-24' }],
      }),
    ],
  ].map(([name = '', text = '']) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) }))
  const page = await farm().open('/findings?workspace=enriched')
  await page.getByRole('button', { name: 'EPSS, KEV' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('No file is loaded yet.').waitFor()
  const load = async (chosen: typeof files): Promise<void> => {
    await dialog.getByLabel('Files').setInputFiles(chosen)
    await dialog.getByRole('button', { name: 'Load' }).click()
  }
  farm().problems.expect(/POST \/api\/enrichments.*: 400/)
  await load([{ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('no scores') }])
  await dialog.getByRole('alert').waitFor()
  await load(files)
  await dialog.getByText('epss.csv: EPSS, 1 CVE, 1 finding changed').waitFor()
  await dialog.getByText('kev.json: CISA KEV, 1 CVE, 1 finding changed').waitFor()
  await dialog.getByRole('row').filter({ hasText: 'CISA KEV' }).waitFor()
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  await row(page, 'CVE-2021-44228').getByRole('link').first().click()
  await page
    .getByText(/exploited/i)
    .first()
    .waitFor()

  const operator = await farm().open('/findings', { role: 'operator' })
  await operator.getByRole('button', { name: 'EPSS, KEV' }).click()
  await operator.getByRole('row').filter({ hasText: 'EPSS' }).waitFor()
  expect(await refusalOf(operator.getByRole('dialog').getByRole('button', { name: 'Load' }))).toContain(
    'admin',
  )
})

test('A comparison shows what changed between two runs, and an asset the runs that saw it', async () => {
  const run = async (found: readonly Found[], tech: readonly string[]): Promise<string> => {
    const assets = JSON.stringify({ host: 'one.test', url: 'https://one.test', tech })
    const job = await farm().finish('finder', ['one.test'], { found: found.map(lineOf).join('\n'), assets })
    const { data } = await farm().api.GET('/runs', { params: { query: { job_id: job } } })
    return data.data[0]?.run_uuid ?? ''
  }
  const a = await run([{ id: 'stays' }, { id: 'goes' }], ['nginx'])
  const b = await run([{ id: 'stays', severity: 'high' }, { id: 'comes' }], ['nginx', 'php'])

  const page = await farm().open(`/changes?a=${a}&b=${b}`)
  await row(page, 'comes').waitFor()
  await page.getByRole('radio', { name: /Gone 1/ }).check()
  await row(page, 'goes').waitFor()
  await page.getByRole('radio', { name: /Changed 1/ }).check()
  await row(page, 'stays').getByText('severity: low → high').waitFor()
  await page.getByRole('tab', { name: 'Assets' }).click()
  await page.getByText('technologies: +php').waitFor()
  expect(page.url()).toContain('kind=assets')
  expect(page.url()).toContain('change=changed')

  await rows(page).getByRole('link', { name: 'https://one.test' }).click()
  await page.getByRole('heading', { name: 'https://one.test' }).waitFor()
  await page.getByRole('link', { name: 'one.test', exact: true }).click()
  await page.getByRole('tab', { name: 'Assets (1)' }).click()
  await rows(page).getByRole('link', { name: 'https://one.test' }).click()
  await page.getByRole('tab', { name: 'Runs (2)' }).click()
  await page.getByRole('link', { name: 'Changes since the run before' }).click()
  await page.waitForURL(`**/changes?kind=assets&a=${a}&b=${b}`)
  await page.getByRole('link', { name: 'Assets', exact: true }).click()
  await rows(page).filter({ hasText: 'nginx, php' }).waitFor()
  await page.reload()
  await rows(page).filter({ hasText: 'nginx, php' }).waitFor()
})
