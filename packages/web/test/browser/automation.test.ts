import { expect, test } from '@jest/globals'
import { type Page, refusalOf, useConsole } from './harness.ts'

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
  await page.getByRole('button', { name: 'Actions of on-build' }).click()
  await page.getByRole('menuitem', { name: 'Test with an event' }).click()
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
  await form.getByRole('button', { name: 'Create' }).click()
  const row = page.getByRole('row', { name: /nightly/ })
  await row.getByText('enabled').waitFor()
  const choose = async (name: string) => {
    await row.getByRole('button', { name: 'Actions of nightly' }).click()
    await page.getByRole('menuitem', { name }).click()
  }
  await choose('Disable')
  await row.getByText('disabled').waitFor()
  await choose('Delete')
  await page.getByRole('button', { name: 'Delete the schedule' }).click()
  await row.waitFor({ state: 'detached' })
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
  await page
    .getByRole('dialog', { name: 'The secret of chat' })
    .getByText(/^[\da-f]{64}$/)
    .waitFor()
  await page.getByRole('button', { name: 'I have copied it' }).click()
  await farm().api.POST('/events/emit', { body: { topic: 'custom.hook', data: {} } })
  await page.getByRole('tab', { name: 'Deliveries' }).click()
  const row = page.getByRole('row', { name: /custom\.hook/ })
  await row.getByRole('checkbox').check()
  await page.getByRole('button', { name: 'Send again' }).click()
  await page.getByText('1 delivery is sent again.').waitFor()
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
