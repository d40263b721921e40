import { access, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { refusalOf, useConsole } from './harness.ts'
import { NARROW } from './screens.ts'

/** Prints a line for each file that appears in the param `folder`, and ends after the file `3`. */
const SPEAKS = `
kind: module
name: speaks
params: [{name: folder}]
steps:
  - name: quick
    type: bash
    command: echo quick
  - name: speak
    type: bash
    command: |
      printf '\\033[31mred\\033[0m and <b>not bold</b>\\n'
      for n in 1 2 3; do
        while [ ! -e {{folder}}/say-$n ]; do sleep 0.1; done
        echo "line of file $n"
      done
`

/** Prints many lines. */
const COUNTS = `
kind: module
name: counts
steps:
  - name: count
    type: bash
    command: seq -f 'number %.0f' 60000
`

/** A loop whose items other runs execute. */
const SPREADS = `
kind: module
name: spreads
steps:
  - name: list
    type: bash
    command: seq 3 > {{Output}}/list
  - name: each
    type: foreach
    input: '{{Output}}/list'
    variable: item
    spread: {batch: 2}
    step: {name: one, type: bash, command: 'echo [[item]]'}
`

const farm = useConsole({ modules: { speaks: SPEAKS, counts: COUNTS, spreads: SPREADS } })

const say = (folder: string, number: number): Promise<void> => writeFile(join(folder, `say-${number}`), '')

const runOf = async (job: string): Promise<string> => {
  const { data } = await farm().api.GET('/jobs/{job_id}', { params: { path: { job_id: job } } })
  return data.runs[0]?.run_uuid ?? ''
}

test('The output of a running step appears while it is written, with colours, search and links to lines', async () => {
  const folder = farm().farm.folder
  const run = await runOf(await farm().start('speaks', ['live.example'], { folder }))
  const page = await farm().open(`/runs/${run}`)
  const log = page.getByRole('log')
  await log.getByText('red', { exact: true }).waitFor()
  expect(await log.getByText('red', { exact: true }).getAttribute('style')).toContain('var(--bad)')
  await log.getByText('<b>not bold</b>').waitFor()
  await say(folder, 1)
  await log.getByText('line of file 1').waitFor()
  await say(folder, 2)
  await log.getByText('line of file 2').waitFor()

  await page.keyboard.press('f')
  await page.keyboard.type('OF FILE')
  await page.getByText('2 lines', { exact: true }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByText('1 of 2 lines').waitFor()
  expect(await log.locator('mark').allTextContents()).toEqual(['of file', 'of file'])

  await page.getByRole('link', { name: 'Link to line 3' }).click()
  await page.waitForURL(/#L3$/)
  await page.getByRole('button', { name: 'Copy lines' }).click()
  await page.getByText('Copied.').waitFor()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('line of file 2')

  await say(folder, 3)
  await page.getByText('3 lines', { exact: true }).or(page.getByText('1 of 3 lines')).waitFor()
  await page.getByText('complete', { exact: true }).waitFor()

  // The link opens the ended run at the same line of the same step.
  await page.getByRole('button', { name: /^quick/ }).click()
  await page.getByRole('region', { name: 'Step quick' }).getByText('exit code', { exact: false }).waitFor()
  await page.getByRole('button', { name: /^speak/ }).click()
  await page.evaluate(() => (window.location.hash = 'L4'))
  await page.reload()
  expect(await page.locator('.log .chosen').textContent()).toBe('4line of file 3')
})

test('A link to a line of a long log loads it without the lines before, which are loaded when asked for', async () => {
  const run = await runOf(await farm().finish('counts', ['long.example']))
  const page = await farm().open(`/runs/${run}`)
  await page.getByRole('button', { name: /^count/ }).click()
  const log = page.getByRole('log')
  await log.getByText('number 1', { exact: true }).waitFor()
  await page.goto(`${page.url().split('#')[0]}#L50000`)
  await page.reload()
  await log.getByText('number 50000').waitFor()
  expect(await page.locator('.log .chosen').textContent()).toBe('50000number 50000')
  await page.getByLabel('Search the log').fill('number 4')
  await page.getByText('1,000 lines', { exact: true }).waitFor()
  await page.getByLabel('Search the log').fill('')

  const before = page.getByRole('button', { name: 'Load the 48,999 lines before' })
  await before.click()
  await before.waitFor({ state: 'detached' })
  await log.getByText('number 50000').waitFor()
  await page.getByLabel('Search the log').fill('number 4')
  await page.getByText('10,000+ lines').waitFor()
})

test('A log that is being loaded says so until its lines are there', async () => {
  const run = await runOf(await farm().finish('hello', ['slow.example']))
  const page = await farm().open('/runs')
  const answered = Promise.withResolvers<void>()
  await page.route(/\/log\?/, async (route) => {
    await answered.promise
    await route.continue()
  })
  // The page opens the last step, and reads its log at once.
  await page.goto(new URL(`/runs/${run}`, page.url()).href)
  await page.locator('.log[aria-busy=true]').getByText('Loading…').waitFor()
  answered.resolve()
  await page
    .locator('.log[aria-busy=false]')
    .getByText('hello slow.example line 1', { exact: true })
    .waitFor()
})

test('A log is shown although the network drops its viewer again and again', async () => {
  const run = await runOf(await farm().finish('hello', ['drop.example']))
  const page = await farm().open('/runs')
  let requests = 0
  await page.route(/log-view.*\.js$/, async (route) => {
    requests += 1
    if (requests > 3) await route.continue()
    else await route.abort('connectionreset')
  })
  await page.goto(new URL(`/runs/${run}`, page.url()).href)
  await page.getByRole('log').getByText('hello drop.example line 1', { exact: true }).waitFor()
  expect(requests).toBeGreaterThan(3)
  farm().problems.expect(/log-view/)
})

test('The step of a loop links to the runs that execute its items, and such a run to the run with the loop', async () => {
  const job = await farm().finish('spreads', ['spread.example'])
  const run = await runOf(job)
  const page = await farm().open(`/runs/${run}`, { size: NARROW })
  await page.getByRole('button', { name: /^each/ }).click()
  await page.getByRole('link', { name: 'Runs of its batches' }).click()
  await page.waitForURL(/\/runs\?job_id=/)
  const links = page.getByRole('table', { name: 'Runs' }).getByRole('link', { name: 'spread.example' })
  await links.nth(1).waitFor()
  expect(await links.count()).toBe(2)
  // The newest first.
  const items = page.getByRole('table', { name: 'Runs' }).getByText(/^ ?items? \d/)
  expect(await items.allTextContents()).toEqual([' item 3', ' items 1–2'])
  await links.first().click()
  await page.getByText('item 3 of the run with the loop').waitFor()
  await page.getByRole('link', { name: 'the run with the loop' }).click()
  await page.waitForURL((url) => url.pathname === `/runs/${run}`)
  await page.getByRole('link', { name: job }).waitFor()
})

test('A cancelled run shows the processes that were killed', async () => {
  const run = await runOf(await farm().start('endless', ['cancel.example']))
  const page = await farm().open(`/runs/${run}`)
  await page.getByRole('log').getByText('waiting').waitFor()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Cancel the run' }).click()
  const proof = page.getByRole('status').filter({ hasText: /killed: pid/ })
  await proof.waitFor()
  const pids = /pid ([\d, ]+)/.exec((await proof.textContent()) ?? '')?.[1]?.split(', ') ?? []
  expect(pids.length).toBeGreaterThan(0)
  for (const pid of pids) await expect(access(`/proc/${pid}`)).rejects.toThrow('ENOENT')
  await page.getByRole('tab', { name: 'Attempts' }).click()
  await page
    .getByRole('list', { name: 'Attempts' })
    .getByText(/cancelled$/)
    .first()
    .waitFor()
})

test('A job shows its targets and groups what failed, and a group is retried as a new job', async () => {
  const targets = Array.from({ length: 5 }, (_, index) => `host${index}.example`)
  const job = await farm().finish('broken', targets)
  const page = await farm().open(`/jobs/${job}`)
  await page.getByRole('link', { name: 'failed 5' }).waitFor()
  const cells = page.getByRole('application')
  await cells.focus()
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('f')
  await page.getByText(/^2 failed host1\.example/).waitFor()
  await page.getByRole('tab', { name: 'Failures (5)' }).click()
  await page.getByRole('button', { name: /^Retry 5 runs/ }).click()
  await page.waitForURL((url) => url.pathname.startsWith('/jobs/') && !url.pathname.endsWith(job))
  await page.getByRole('link', { name: job }).waitFor()
  await page.getByText('100%').waitFor()
  await page.goto(`/jobs/${job}`)
  await page.getByText('Retried by').waitFor()
})

test('The priority of an open job is changed in a dialog', async () => {
  const job = await farm().start('endless', ['urgent.test'])
  const page = await farm().open(`/jobs/${job}`)
  await page.getByRole('button', { name: 'Priority' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Priority').selectOption('high')
  await dialog.getByRole('button', { name: 'Change the priority' }).click()
  await dialog.waitFor({ state: 'hidden' })
  await page.locator('.facts').getByText('high', { exact: true }).waitFor()
  await farm().api.POST('/jobs/{job_id}/cancel', { params: { path: { job_id: job } } })
  await farm().api.waitForJob(job)
})

test('Selected runs are cancelled with one request, and a viewer is told why they cannot', async () => {
  const job = await farm().start('endless', ['a.example', 'b.example'])
  const page = await farm().open(`/runs?job_id=${job}`)
  await page.getByLabel('Select all loaded rows').check()
  await page.getByRole('button', { name: 'Cancel 2' }).click()
  await page.getByRole('button', { name: 'Cancel 2 runs' }).click()
  await farm().api.waitForJob(job)
  await page
    .getByRole('table', { name: 'Runs' })
    .getByText(/cancelled$/)
    .nth(1)
    .waitFor()

  const viewer = await farm().open(`/jobs/${job}`, { role: 'viewer' })
  expect(await refusalOf(viewer.getByRole('button', { name: 'Retry what failed' }))).toMatch(
    /needs the role operator/,
  )
})

test('A followed log goes on without a gap or a repeated line when the server has been away', async () => {
  farm().problems.expect(/net::ERR_/)
  const { farm: cluster } = farm()
  const folder = await cluster.traces()
  const run = await runOf(await farm().start('speaks', ['away.example'], { folder }))
  const page = await farm().open(`/runs/${run}`)
  const log = page.getByRole('log')
  await say(folder, 1)
  await log.getByText('line of file 1').waitFor()

  const [master] = cluster.masters
  await master?.program.kill()
  const step = page.getByRole('region', { name: 'Step speak' })
  await step.getByText('▲ reconnecting').waitFor()
  await say(folder, 2)
  await cluster.startMaster(master?.port)
  await log.getByText('line of file 2').waitFor()
  await step.getByText('● live').waitFor()
  await say(folder, 3)
  await page.getByText('complete', { exact: true }).waitFor()
  const lines = await log.locator('.log-text').allTextContents()
  expect(lines).toEqual(['red and <b>not bold</b>', ...[1, 2, 3].map((n) => `line of file ${n}`)])
})
