import { expect, test } from '@jest/globals'
import { until } from '@scanfarm/testing'
import { type Page, refusalOf, useConsole } from './harness.ts'
import { NARROW, resize, WIDE } from './screens.ts'

const LISTENER = `
kind: module
name: listener
description: Greets the host of a build
params:
  - {name: port, type: int, min: 1, max: 65535, default: 22}
  - {name: mode, type: choice, choices: [fast, slow], default: fast}
triggers:
  - name: on-build
    on: event
    enabled: true
    event:
      topic: custom.build
      filters: ['event.data.level > 3', 'starts_with(event.data.branch, "release/")']
    input: {target: event_data.host}
steps:
  - name: greet
    type: bash
    pre_condition: '{{port}} > 0'
    command: echo {{mode}} {{Target}} {{port}}
`

const BROKEN = `kind: module
name: added
steps:
  - name: greet
    type: bash
    comand: echo {{Target}}
`

const farm = useConsole({ modules: { listener: LISTENER } })

/** An item of the menu of a row. */
const choose = async (page: Page, row: string, item: string) => {
  await page.getByRole('button', { name: `Actions of ${row}` }).click()
  await page.getByRole('menuitem', { name: item }).click()
}
const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 })

test('A workflow with an error is marked and not saved; the corrected one is saved and opens', async () => {
  const page = await farm().open('/workflows?view=add')
  const text = page.getByLabel('Workflow in YAML')
  await text.fill(BROKEN)
  const problems = page.getByRole('list', { name: 'Problems' })
  await problems.getByText('error').first().waitFor()
  expect(await page.getByRole('button', { name: 'Save' }).getAttribute('aria-disabled')).toBe('true')
  await problems
    .getByRole('button', { name: /line 6/ })
    .first()
    .click()
  expect(
    await text.evaluate((area: HTMLTextAreaElement) =>
      area.value.slice(area.selectionStart, area.selectionEnd),
    ),
  ).toBe('    comand: echo {{Target}}')
  await text.fill(BROKEN.replace('comand', 'command'))
  await page.getByText('no errors').waitFor()
  await page.getByRole('button', { name: 'Save' }).click()
  await heading(page, 'added').waitFor()
  await page.getByRole('tab', { name: 'Source' }).click()
  await page.getByRole('region', { name: 'Source' }).getByText('command').waitFor()
})

test('A form that is made from the params starts a job, and shows its command line', async () => {
  const page = await farm().open('/workflows')
  await page.getByRole('link', { name: 'listener', exact: true }).click()
  await heading(page, 'listener').waitFor()
  const start = page.getByRole('complementary', { name: 'Start' })
  await start
    .getByRole('textbox', { name: /^Targets/ })
    .fill('a.example.com\n# a comment\n\nb.example.com\na.example.com')
  await start.getByText('2 targets').waitFor()
  await start.getByLabel(/^port/).fill('8080')
  await start.getByLabel(/^mode/).selectOption('slow')
  await start.getByText('Where, when and how').click()
  await start.getByLabel('Where', { exact: true }).selectOption('distributed')
  await start.getByLabel('Priority').selectOption('high')
  await start
    .getByText(
      'scanfarm run -m listener -t a.example.com -t b.example.com -p port=8080 -p mode=slow --mode distributed --priority high',
    )
    .waitFor()
  await start.getByRole('button', { name: 'Start 2 runs' }).click()
  await page.waitForURL('**/jobs/*')
  const job = await farm().api.waitForJob(page.url().split('/').at(-1) ?? '')
  expect(job.status).toBe('completed')
})

test('A job of mode delta shows what it left out, also if it has nothing to run', async () => {
  const { api } = farm()
  const body = { module: 'listener', targets: ['e.example.com', 'f.example.com'] }
  const { data } = await api.POST('/runs', { body })
  await api.waitForJob(data?.job_id ?? '')
  const page = await farm().open('/workflows/listener')
  const start = page.getByRole('complementary', { name: 'Start' })
  await start.getByRole('textbox', { name: /^Targets/ }).fill(body.targets.join('\n'))
  await start.getByText('Where, when and how').click()
  await start.getByLabel('Scan', { exact: true }).selectOption('delta')
  await start.getByLabel('Or not scanned for').fill('3d')
  await start.getByText(/ --delta --max-age 3d$/).waitFor()
  await start.getByRole('button', { name: 'Start 2 runs' }).click()
  await page.waitForURL('**/jobs/*')
  await page.getByRole('tab', { name: 'Left out (2)' }).waitFor()
  const row = page.getByRole('row', { name: /^f\.example\.com/ })
  await row.getByText(/^nothing changed since/).waitFor()
})

test('A refused value is shown at its field', async () => {
  const page = await farm().open('/workflows/listener')
  farm().problems.expect(/POST \/api\/runs: 400/)
  await page.getByRole('textbox', { name: /^Targets/ }).fill('-not a target')
  await page.getByRole('button', { name: 'Start' }).click()
  // The reason is shown once.
  await page.getByRole('alert').getByText('One field is not valid.').waitFor()
  const field = page.getByRole('textbox', { name: /^Targets/ })
  expect(await field.getAttribute('aria-invalid')).toBe('true')
})

test('The keyboard walks through the graph and shows what a step does', async () => {
  const page = await farm().open('/workflows/listener')
  await page.getByRole('button', { name: /^greet/ }).focus()
  await page.keyboard.press('Space')
  await page
    .getByRole('region', { name: 'Part greet' })
    .getByText('echo {{mode}} {{Target}} {{port}}')
    .waitFor()
  await page.getByRole('region', { name: 'Part greet' }).getByRole('button', { name: /^Line/ }).click()
  await page.getByRole('region', { name: 'Source' }).waitFor()
  expect(page.url()).toMatch(/tab=source&line=\d+/)
})

test('A test with an event explains each filter, and starts nothing', async () => {
  const page = await farm().open('/triggers')
  await choose(page, 'on-build', 'Test with an event')
  const data = page.getByLabel('Data of the event')
  await data.fill('{"level": 5, ')
  await page.getByText('This is not JSON').waitFor()
  expect(await page.getByRole('button', { name: 'Test', exact: true }).isDisabled()).toBe(true)
  await data.fill('{"level": 5, "branch": "main", "host": "c.example.com"}')
  await page.getByRole('button', { name: 'Test', exact: true }).click()
  const filters = page.getByRole('list', { name: 'Filters' }).getByRole('listitem')
  await filters.first().waitFor()
  expect(await filters.allInnerTexts()).toEqual([
    expect.stringMatching(/true[^]*level > 3/),
    expect.stringMatching(/false[^]*starts_with/),
  ])
  await data.fill('{"level": 5, "branch": "release/1", "host": "c.example.com"}')
  await page.getByRole('button', { name: 'Test', exact: true }).click()
  const result = page.getByRole('region', { name: 'Result' })
  await result.getByText('would start').waitFor()
  await result.getByRole('listitem').getByText('c.example.com').waitFor()
  const { data: runs } = await farm().api.GET('/runs', { params: { query: { target: 'c.example.com' } } })
  expect(runs.data).toEqual([])
})

test('A schedule is created with its next times, disabled, and deleted', async () => {
  const page = await farm().open('/triggers')
  await page.getByRole('button', { name: 'New schedule' }).click()
  const form = page.getByRole('dialog', { name: 'New schedule' })
  await form.getByLabel('Name').fill('nightly')
  await form.getByLabel('Workflow').fill('listener')
  await form.getByLabel('Cron expression').fill('0 3 * *')
  await form.getByText('a schedule has five').waitFor()
  await form.getByLabel('Cron expression').fill('0 3 * * 1-5')
  await form.getByText('At 03:00, Monday through Friday').waitFor()
  await form.getByRole('textbox', { name: /^Targets/ }).fill('d.example.com')
  await form.getByLabel('Scan', { exact: true }).selectOption('delta')
  await form.getByLabel('All targets each time of so many').fill('7')
  await form.getByRole('button', { name: 'Create' }).click()
  const row = page.getByRole('row', { name: /nightly/ })
  await row.getByText('enabled').waitFor()
  const { data } = await farm().api.GET('/schedules')
  expect(data?.data).toContainEqual(
    expect.objectContaining({ name: 'nightly', mode: 'delta', max_age: '7d', full_every: 7 }),
  )
  await choose(page, 'nightly', 'Disable')
  await row.getByText('disabled').waitFor()
  await choose(page, 'nightly', 'Edit')
  const name = page.getByRole('dialog').getByLabel('Name')
  await name.fill('typed')
  const other = await farm().open('/triggers')
  await choose(other, 'nightly', 'Delete')
  await other.getByRole('button', { name: 'Delete the schedule' }).click()
  // A dialog stays with what is typed when the row that opened it goes.
  await row.waitFor({ state: 'detached' })
  expect(await name.inputValue()).toBe('typed')
})

test('An emitted event appears in the log and starts the workflow', async () => {
  const page = await farm().open('/events?topic=custom.*')
  await page.getByText('No events').waitFor()
  await page.getByRole('button', { name: 'Emit an event' }).click()
  const form = page.getByRole('dialog', { name: 'Emit an event' })
  await form.getByLabel('Topic').fill('custom.build')
  await form.getByLabel('Data').fill('{"level": 5, "branch": "release/1", "host": "e.example.com"}')
  await form.getByRole('button', { name: 'Emit' }).click()
  await form.getByText('It started listener.').waitFor()
  await form.getByRole('button', { name: 'Close' }).click()
  await page.getByRole('button', { name: 'custom.build' }).click()
  await page.getByRole('region', { name: 'Data of the event' }).getByText('e.example.com').waitFor()
})

test('A subscription shows its secret once, and a delivery that failed is sent again', async () => {
  const page = await farm().open('/webhooks')
  await page.getByRole('button', { name: 'New subscription' }).click()
  const form = page.getByRole('dialog', { name: 'New subscription' })
  await form.getByLabel('Name').fill('chat')
  await form.getByLabel('URL').fill('http://127.0.0.1:9/hook')
  await form.getByLabel(/^Topics/).fill('custom.hook')
  await form.getByLabel('Least severity of findings').selectOption('high')
  await form.getByRole('button', { name: 'Create' }).click()
  const secret = page.getByRole('dialog', { name: 'The secret of chat' })
  await secret.getByText(/^[\da-f]{64}$/).waitFor()
  await page.getByRole('button', { name: 'I have copied it' }).click()
  await farm().api.POST('/events/emit', { body: { topic: 'custom.hook', data: {} } })
  await page.getByRole('tab', { name: 'Deliveries' }).click()
  const row = page.getByRole('row', { name: /custom\.hook/ })
  await row.getByRole('checkbox').check()
  await page.getByRole('button', { name: 'Send again' }).click()
  await page.getByText('1 delivery is sent again.').waitFor()
})

test('A subscription is created with a warning if another one has its name', async () => {
  const url = 'http://127.0.0.1:9/hook'
  await farm().api.POST('/webhook-subscriptions', { body: { name: 'twin', url, topics: ['custom.twin'] } })
  const page = await farm().open('/webhooks')
  await page.getByRole('button', { name: 'New subscription' }).click()
  const form = page.getByRole('dialog', { name: 'New subscription' })
  await form.getByLabel('Name').fill('twin')
  await form.getByLabel('URL').fill(url)
  await form.getByLabel(/^Topics/).fill('custom.twin')
  await form.getByRole('button', { name: 'Create' }).click()
  await page.getByRole('status').getByText('name: several subscriptions have this name').waitFor()
  await page.getByRole('dialog', { name: 'The secret of twin' }).waitFor()
})

test('A target out of a scope is refused, the job says why, and the command that went out is found', async () => {
  const page = await farm().open('/scopes')
  await page.getByRole('button', { name: 'New scope' }).click()
  const form = page.getByRole('dialog', { name: 'New scope' })
  // No input is wider than its place, the times neither.
  await resize(page, NARROW)
  const body = page.locator('.dialog-body')
  expect(await body.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0)
  await resize(page, WIDE)
  await form.getByLabel('Name').fill('shop')
  await form.getByLabel(/^Allowed/).fill('*.shop.test')
  await form.getByLabel(/^Denied/).fill('pay.shop.test')
  await form.getByLabel(/^When runs may scan/).fill('22-6')
  await form.getByRole('button', { name: 'Create' }).click()
  await form.getByText('Write the window "22-6" like 22:00-06:00').waitFor()
  await form.getByLabel(/^When runs may scan/).fill('00:00-00:00')
  await form.getByLabel(/^Limits of its runs/).fill('address:10')
  await form.getByRole('button', { name: 'Create' }).click()
  await form.getByText('Write the limit "address:10" like address:rate=10,runs=2').waitFor()
  await form.getByLabel(/^Limits of its runs/).fill('address:rate=10\naddress:runs=2')
  await form.getByRole('button', { name: 'Create' }).click()
  await form.getByText('Write one limit for address, like address:rate=10,runs=2').waitFor()
  await form.getByLabel(/^Allowed/).fill('*.shop.test, 10.0.0.1')
  await form.getByLabel(/^Limits of its runs/).fill('address:rate=10,runs=2\nworkflow:once')
  await resize(page, NARROW)
  await form.getByLabel('Note').fill('of the customer')
  farm().problems.expect(/POST \/api\/scopes: 400/)
  await form.getByRole('button', { name: 'Create' }).click()
  const problem = form.getByText('must not contain spaces')
  await until(() =>
    problem.evaluate((element) => {
      const { x, y, height } = element.getBoundingClientRect()
      return element.contains(document.elementFromPoint(x + 1, y + height / 2))
    }),
  )
  await resize(page, WIDE)
  await form.getByLabel(/^Allowed/).fill('*.shop.test')
  await form.getByRole('button', { name: 'Create' }).click()
  const row = page.getByRole('row', { name: /shop/ })
  await row.getByText('00:00-00:00').waitFor()
  await choose(page, 'shop', 'Edit')
  const edit = page.getByRole('dialog', { name: 'Edit the scope shop' })
  await edit.getByLabel('Owner').fill('ada')
  await edit.getByLabel('Valid until').fill('2099-01-01T00:00')
  await edit.getByRole('button', { name: 'Save' }).click()
  await row.getByText('ada').waitFor()
  const { data } = await farm().api.GET('/scopes/{name}', { params: { path: { name: 'shop' } } })
  expect(data.data).toMatchObject({ denied: ['pay.shop.test'], windows: [{ from: '00:00', to: '00:00' }] })
  expect(data.data.limits).toEqual({ per_address: { rate: 10, runs: 2 }, workflow_once: true })
  expect(data.data.valid_until).toMatch(/^(2098-12-31|2099-01-01)T/)

  await page.goto('/workflows/listener')
  const start = page.getByRole('complementary', { name: 'Start' })
  await start.getByRole('textbox', { name: /^Targets/ }).fill('www.shop.test\npay.shop.test')
  await start.getByText('Where, when and how').click()
  await start.getByLabel('Where', { exact: true }).selectOption('distributed')
  await start.getByLabel('Scope', { exact: true }).selectOption('shop')
  await start.getByText(/--scope shop$/).waitFor()
  await start.getByRole('button', { name: 'Start 2 runs' }).click()
  await page.waitForURL('**/jobs/*')
  await farm().api.waitForJob(page.url().split('/').at(-1) ?? '')
  await page.getByRole('tab', { name: 'Refused (1)' }).click()
  const refused = page.getByRole('row', { name: /pay\.shop\.test/ })
  await refused.getByText('when the job was submitted').waitFor()
  expect(await refused.textContent()).toContain('the scope shop denies pay.shop.test')

  await page.goto('/scopes?tab=was-it-us')
  const search = async (address: string) => {
    await page.getByLabel('Address or name of the host').fill(address)
    await page.getByRole('button', { name: 'Search' }).click()
  }
  await search('www.shop.test')
  const step = page.getByRole('row', { name: /echo fast www\.shop\.test 22/ })
  await step.getByText('target www.shop.test').waitFor()
  await step.getByText('shop', { exact: true }).waitFor()
  await page.getByRole('status').filter({ hasText: '1 run from' }).waitFor()
  await search('pay.shop.test')
  await page.getByText('It was not us').waitFor()
  expect(page.url()).toContain('address=pay.shop.test')

  await page.getByRole('tab', { name: 'Scopes' }).click()
  await choose(page, 'shop', 'Delete')
  await page.getByRole('button', { name: 'Delete the scope' }).click()
  await page.getByText('No scopes').waitFor()

  await page.getByRole('button', { name: 'Limits of all runs' }).click()
  const limits = page.getByRole('dialog', { name: 'Limits of all runs' })
  const save = async (text: string) => {
    await limits.getByLabel(/^Limits, one a line/).fill(text)
    await limits.getByRole('button', { name: 'Save' }).click()
  }
  farm().problems.expect(/PUT \/api\/limits.*: 400/)
  await save('domain:rate=1,runs=2')
  await limits.getByRole('alert').waitFor()
  await save('domain:rate=50')
  await page.getByText('The limits are saved.').waitFor()
  expect((await farm().api.GET('/limits')).data).toMatchObject({ data: { per_domain: { rate: 50 } } })
  await farm().api.PUT('/limits', { body: {} })
})

test('The never-scan list takes entries and files, and says which line is wrong', async () => {
  const page = await farm().open('/scopes?tab=never-scan')
  await page.getByRole('button', { name: 'Add an entry' }).click()
  await page.getByLabel('Host, domain or network').fill('hospital.test')
  await page.getByLabel('Reason', { exact: true }).fill('asked for it')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  const row = (name: string) => page.getByRole('row').filter({ hasText: name })
  await row('hospital.test').getByText('asked for it').waitFor()

  await page.getByRole('button', { name: 'Import a file' }).click()
  const form = page.getByRole('dialog', { name: 'Import a file' })
  const give = async (text: string) => {
    await form
      .getByLabel('File')
      .setInputFiles({ name: 'list.txt', mimeType: 'text/plain', buffer: Buffer.from(text) })
    await form.getByRole('button', { name: 'Import' }).click()
  }
  await form.getByLabel('Reason').fill('a contract')
  farm().problems.expect(/POST \/api\/never-scan\/import: 400/)
  await give('school.test\nnot a host\n')
  await form.getByText(/line 2/).waitFor()
  await give('school.test # pupils\nbank.test\n')
  await row('school.test').getByText('pupils').waitFor()
  await row('bank.test').getByText('a contract').waitFor()

  await page.getByLabel('Entry or reason').fill('pupils')
  await page.keyboard.press('Enter')
  await row('bank.test').waitFor({ state: 'detached' })
  await row('school.test').getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('button', { name: 'Remove the entry' }).click()
  await page.getByText('Nothing matches these filters').waitFor()

  const operator = await farm().open('/scopes?tab=never-scan', { role: 'operator' })
  expect(await refusalOf(operator.getByRole('button', { name: 'Add an entry' }))).toMatch(
    /needs the role admin/,
  )
})

test('A viewer sees why the buttons that change something are disabled', async () => {
  const page = await farm().open('/triggers', { role: 'viewer' })
  expect(await refusalOf(page.getByRole('button', { name: 'New schedule' }))).toMatch(/needs the role admin/)
  await page.goto('/workflows/listener')
  expect(await refusalOf(page.getByRole('button', { name: 'Start', exact: true }))).toMatch(
    /needs the role operator/,
  )
  await page.goto('/webhooks')
  await page.getByText('This needs the role admin').waitFor()
})
