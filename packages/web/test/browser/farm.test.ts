import { expect, test } from '@jest/globals'
import { until } from '@scanfarm/testing'
import { type Page, useConsole } from './harness.ts'

const farm = useConsole({
  workers: 2,
  slots: 1,
  modules: {
    demanding: `
kind: module
name: demanding
dependencies:
  commands: [bash, an-absent-program]
steps:
  - name: use
    type: bash
    command: an-absent-program {{Target}}
`,
  },
})

const workers = async (of: 'worker' | 'server' = 'worker') => {
  const { data } = await farm().api.GET('/workers')
  return data.data.filter(({ kind }) => kind === of)
}

const figure = (page: Page, name: string) =>
  page.locator('.figure', { hasText: name }).locator('.figure-value')

test('The overview shows the figures of the API, what needs attention, and charts with their numbers', async () => {
  await farm().finish('broken', ['a.example', 'b.example'])
  await farm().start('demanding', ['c.example', 'd.example', 'e.example'])
  const page = await farm().open('/?range=24h')
  const { data: overview } = await farm().api.GET('/stats/overview')
  expect(await figure(page, 'Waiting').textContent()).toBe(String(overview.queue.waiting))
  expect(await figure(page, 'Workers').textContent()).toBe(String(overview.workers.live))
  await page
    .getByRole('listitem')
    .filter({ hasText: '3 runs of priority normal cannot start: no live worker offers' })
    .getByRole('link', { name: 'See the queue' })
    .waitFor()
  const status = page.getByRole('row', { name: /failed/ }).first()
  expect(await status.getByRole('cell').first().textContent()).toBe(String(overview.runs.failed))
  expect(await page.getByRole('button', { name: '24 hours' }).getAttribute('aria-pressed')).toBe('true')
  await page.getByRole('button', { name: '1 hour' }).click()
  await page.waitForURL('**/?range=1h')
  const chart = page.getByRole('figure').filter({ hasText: 'Ended runs per minute' })
  await chart.getByText('Numbers').click()
  const { data: series } = await farm().api.GET('/stats/series', { params: { query: { range: '1h' } } })
  await chart.getByRole('row').nth(series.times.length).waitFor()
  expect(await chart.getByRole('row').count()).toBe(series.times.length + 1)
  await page.getByRole('link', { name: 'failed' }).first().click()
  await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor()
  await page.getByRole('link', { name: 'a.example' }).waitFor()
})

test('A chart has room for the last time below it', async () => {
  const page = await farm().open('/')
  const room = await page
    .locator('.uplot')
    .first()
    .evaluate((chart) => {
      const lines = chart.querySelector('.u-over')
      return lines && chart.getBoundingClientRect().right - lines.getBoundingClientRect().right
    })
  expect(room).toBeGreaterThanOrEqual(24)
})

test('The queue shows for each class of runs why it waits', async () => {
  const page = await farm().open('/queue')
  const row = page.getByRole('row').filter({ hasText: 'the programs an-absent-program and bash' })
  await row.getByText('cannot start').waitFor()
  expect(await row.textContent()).toContain('no live worker offers: tool:an-absent-program')
  await page.getByLabel('Priority').selectOption('low')
  await page.getByText('No class of waiting runs matches these filters').waitFor()
  await page.getByRole('tab', { name: 'Waiting runs' }).click()
  await page.getByRole('table', { name: 'Waiting runs' }).getByRole('link', { name: 'c.example' }).waitFor()
})

test('A waiting run shows its place in the queue', async () => {
  const targets = ['first.example', 'second.example', 'third.example']
  const request = { module: 'demanding', targets, run_mode: 'distributed', priority: 'high' }
  await farm().farm.client.post('/runs', request)
  const page = await farm().open('/runs?priority=high')
  await page.getByRole('link', { name: 'third.example' }).click()
  await page.getByText('3rd of 3 at priority high.').waitFor()
  await page.getByRole('link', { name: 'See the queue' }).click()
  await page.waitForURL('**/queue?priority=high')
})

test.each(['runs?priority=high', 'jobs?priority=high', 'events?topic=run.*'])(
  'The filter of /%s is saved under a name and opened',
  async (path) => {
    const [screen = '', query = ''] = path.split('?')
    const page = await farm().open(`/${path}`)
    const saved = page.getByRole('button', { name: 'Saved filters' })
    await saved.click()
    await page.getByLabel('Save the present filter as').fill('Mine')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('link', { name: 'Mine' }).waitFor()
    await page.goto(`/${screen}`)
    await saved.click()
    await page.getByRole('link', { name: 'Mine' }).click()
    await page.waitForURL((url) => url.search === `?${new URLSearchParams(query).toString()}`)
    await page.getByRole('row').nth(1).waitFor()
  },
)

test('The list of jobs is sorted by the server', async () => {
  for (const priority of ['low', 'critical'] as const) {
    const body = { module: 'noop', targets: ['sorted.test'], priority }
    await farm().api.waitForJob((await farm().api.POST('/runs', { body })).data.job_id)
  }
  const page = await farm().open('/jobs')
  const order = (first: string) =>
    page.getByRole('rowgroup').getByRole('row').first().getByText(first, { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Priority' }).click()
  await page.waitForURL('**/jobs?sort=priority')
  await order('critical')
  await page.getByRole('button', { name: 'Priority' }).click()
  await page.waitForURL('**/jobs?sort=-priority')
  await order('low')
})

test('A filter that is saved before the list of filters has arrived is shown', async () => {
  const page = await farm().open('/jobs?priority=low')
  const saved = Promise.withResolvers<void>()
  let asked = 0
  await page.route(/\/saved-filters\?/, async (route) => {
    const response = await route.fetch()
    asked += 1
    if (asked === 1) await saved.promise
    // The console may have given it up.
    await route.fulfill({ response }).catch(() => undefined)
  })
  await page.getByRole('button', { name: 'Saved filters' }).click()
  await until(() => asked === 1)
  await page.getByLabel('Save the present filter as').fill('Early')
  const answer = page.waitForResponse((response) => response.request().method() === 'POST')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await answer
  saved.resolve()
  await page.getByRole('link', { name: 'Early' }).waitFor()
})

test('An operator pauses and resumes a worker in the list, by keyboard', async () => {
  const page = await farm().open('/workers?kind=worker', { role: 'operator' })
  const [worker] = await workers()
  const name = worker?.name ?? ''
  const row = page.getByRole('row').filter({ hasText: name }).first()
  await row.getByRole('checkbox').press('Space')
  await page.getByRole('button', { name: 'Pause' }).press('Enter')
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: `Pause ${name}` }).press('Enter')
  await dialog.waitFor({ state: 'hidden' })
  await row.getByText('paused').waitFor()
  expect((await workers()).find(({ id }) => id === worker?.id)?.wanted).toBe('paused')
  await row.getByRole('checkbox').press('Space')
  await page.getByRole('button', { name: 'Resume' }).press('Enter')
  await dialog.getByRole('button', { name: `Resume ${name}` }).press('Enter')
  await row.getByText('idle').waitFor()
})

test('The programs of a server are in the list and on its page, with their versions', async () => {
  const { server, bash } = await until(async () => {
    const [one] = await workers('server')
    const tool = one?.tools.find(({ name }) => name === 'bash')
    return one && tool && { server: one, bash: tool }
  })
  const page = await farm().open('/workers?kind=server')
  const row = page.getByRole('row').filter({ hasText: server.name })
  await row.getByText(/\bbash\b/).waitFor()
  await row.getByRole('link', { name: server.name }).click()
  const tools = page.getByRole('region', { name: 'Tools' })
  await tools.getByText(`bash ${bash.version}`).first().waitFor()
  // It does not report programs that are not in the manifest: they may be there.
  expect(await tools.innerText()).not.toContain('Missing')
})

test('An operator drains a worker, sees its last run end, and that it has left', async () => {
  const job = await farm().start('endless', ['drained.example'])
  const busy = await until(async () => (await workers()).find(({ current_runs }) => current_runs.length > 0))
  const page = await farm().open(`/workers/${busy.id}`, { role: 'operator' })
  await page.getByRole('link', { name: 'drained.example' }).waitFor()
  await page.getByRole('button', { name: 'Drain' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Wait for its runs').selectOption('2h')
  await dialog.getByRole('button', { name: `Drain ${busy.name}` }).click()
  await page.getByText('stopping, 1 run left').waitFor()
  await page.getByText('It waits for them until').waitFor()
  await farm().api.POST('/jobs/{job_id}/cancel', { params: { path: { job_id: job } } })
  farm().problems.expect(/GET \/api\/workers\/.*: 404/)
  await page.getByText('This worker has left the farm').waitFor()
  await page.getByRole('link', { name: 'See all workers' }).click()
  await page.getByRole('heading', { name: 'Workers', level: 1 }).waitFor()
})

test('The cloud screen tells how to turn cloud runs on', async () => {
  const page = await farm().open('/cloud')
  await page.getByText('Cloud runs are turned off').waitFor()
})
