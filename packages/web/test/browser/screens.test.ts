// long
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from '@jest/globals'
import type axe from 'axe-core'
import { BUSY_MS, type Page, type Theme, useConsole } from './harness.ts'
import type { Size } from './screens.ts'
import { eachView, NARROW, populate, resize, screenPaths, settle, SURVEY, WIDE } from './screens.ts'

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

const farm = useConsole({ modules: { survey: SURVEY } })
let details: readonly string[] = []
let source = ''

beforeAll(async () => {
  source = await readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
  details = await populate(farm())
})

/** One line for each violation, with the first element that has it. */
const violations = async (page: Page): Promise<string[]> => {
  // The debugger evaluates it: the policy of the console applies to scripts of pages only.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(source)
  const found = await page.evaluate(async (tags) => {
    const { axe: checker } = window as unknown as { axe: typeof axe }
    const { violations: all } = await checker.run(document, { runOnly: tags, resultTypes: ['violations'] })
    return all.map(({ id, help, nodes }) => ({
      id,
      help,
      html: nodes[0]?.html,
      why: nodes[0]?.failureSummary,
      count: nodes.length,
    }))
  }, TAGS)
  return found.map(({ id, help, html, why, count }) => `${id} (${count}): ${help}\n${html}\n${why}`)
}

type Look = readonly [size: Size, theme: Theme]
/** A screen is tried in one of these pairs: in both sizes and both themes. What all screens share is tried in all. */
const LOOKS: readonly (readonly Look[])[] = [
  [
    [NARROW, 'dark'],
    [WIDE, 'light'],
  ],
  [
    [NARROW, 'light'],
    [WIDE, 'dark'],
  ],
]

const show = async (page: Page, theme: Theme): Promise<void> => {
  await page.emulateMedia({ colorScheme: theme })
  await page.locator(`html[data-theme="${theme}"]`).waitFor()
}

/** For each violation, the sizes and themes in which the page has it. */
const violationsIn = async (page: Page, looks: readonly Look[]): Promise<Map<string, string[]>> => {
  const found = new Map<string, string[]>()
  for (const [size, theme] of looks) {
    await resize(page, size)
    await show(page, theme)
    for (const violation of await violations(page))
      found.set(violation, [...(found.get(violation) ?? []), `${theme}, ${size[0]} pixels`])
  }
  return found
}

test(
  'No screen violates WCAG 2.2 AA, light or dark, at 375 or 1440 pixels',
  async () => {
    // Two tabs share the screens.
    const pages = await Promise.all([farm().open('/'), farm().open('/')])
    // All settings look alike, and hundreds of them take axe as long as all other screens together.
    const screens = (await screenPaths(pages[0])).map((path) =>
      path === '/settings' ? '/settings?q=queue' : path,
    )
    const paths = [...screens, ...details, '/scopes?tab=was-it-us&address=one.test']
    const found: Record<string, string[]> = {}
    await Promise.all(
      pages.map(async (page) => {
        await settle(page)
        for (let path = paths.shift(); path !== undefined; path = paths.shift())
          await eachView(page, path, async (view) => {
            // The same pair in each run of this test.
            const pair = LOOKS[view.length % LOOKS.length] ?? []
            for (const [violation, looks] of await violationsIn(page, pair))
              (found[violation] ??= []).push(`${view} (${looks.join('; ')})`)
          })
      }),
    )
    expect(found).toEqual({})
  },
  BUSY_MS,
)

test('The login page violates nothing of WCAG 2.2 AA', async () => {
  const page = await farm().open('/login', { loggedOut: true })
  await settle(page)
  expect(Object.fromEntries(await violationsIn(page, LOOKS.flat()))).toEqual({})
})

const BANNER = 'No answer from the server since'
/** Longer than requests are repeated. */
const GIVEN_UP_MS = 40_000
/** After so long without news a page asks whether the server answers. */
const QUIET_MS = 30_000
const TYPED = 'typed-before'

/** A form in a dialog, and the button that opens it. */
const DIALOGS: readonly (readonly [path: string, button: string])[] = [['/triggers', 'New schedule']]
/** A form on a screen. */
const FORMS: readonly string[] = ['/workflows/survey#start']
/** One of each kind: figures, a list that follows, a list of facets, values. */
const SCREENS: readonly string[] = ['/', '/jobs', '/findings', '/settings']

/** What a user sees and can use. */
const factsOf = (page: Page) =>
  page.evaluate(() => {
    const all = (selector: string) => [...document.querySelectorAll<HTMLElement>(selector)]
    return {
      heading: document.querySelector('h1')?.textContent,
      links: [...new Set(all('main a[href]').map((link) => link.getAttribute('href')))].sort(),
      rows: all('main [role="row"], main li, main tr, main dt').length,
      disabled: all(':disabled, [aria-disabled="true"]').map((one) => one.textContent),
    }
  })

/** Types into the first input, and stays in it. */
const type = async (page: Page): Promise<boolean> => {
  const dialog = page.getByRole('dialog')
  const place = (await dialog.count()) > 0 ? dialog : page.locator('main')
  const input = place
    .locator('input:not([type]), input[type="text"], input[type="search"], textarea')
    .and(page.locator(':enabled:not([readonly]):visible'))
    .first()
  if ((await input.count()) === 0) return false
  await input.fill(TYPED)
  return true
}

const typedText = (page: Page) =>
  page.evaluate((text) => {
    const { activeElement: input } = document
    return (input instanceof HTMLInputElement || input instanceof HTMLTextAreaElement) && input.value === text
  }, TYPED)

/** The server is asked, and does not answer. */
const asks = (page: Page) =>
  page.waitForEvent('requestfailed', (request) => new URL(request.url()).pathname === '/health')

test('Screens of each kind keep their data and typed text while no master answers, and follow it again', async () => {
  const { problems, farm: cluster } = farm()
  const paths = [...SCREENS, ...details.filter((path) => path.startsWith('/runs')), ...FORMS]
  const views = [...paths.map((path) => [path, undefined] as const), ...DIALOGS]
  const tabs: { name: string; page: Page; before: Awaited<ReturnType<typeof factsOf>>; typed: boolean }[] = []
  for (const [index, [path, button]] of views.entries()) {
    // A tab may have its old and its new stream for a moment.
    const page = await farm().open(path, { caller: `caller ${Math.floor(index / 5)}` })
    await settle(page)
    if (button !== undefined) {
      await page.getByRole('button', { name: button }).first().click()
      await page.getByRole('dialog').waitFor()
    }
    await page.getByRole('button', { name: 'live', exact: true, includeHidden: true }).waitFor()
    await page.clock.install()
    const typed = await type(page)
    await page.evaluate(() => (document.documentElement.dataset['loaded'] = 'once'))
    tabs.push({ name: `${path} ${button ?? ''}`, page, before: await factsOf(page), typed })
  }

  problems.expect(/net::ERR_/)
  const [master] = cluster.masters
  if (!master) throw new Error('the farm has no master')
  // A master that stops by itself first takes its own slots from the list of workers.
  await master.program.kill()
  for (const { page, name, before, typed } of tabs) {
    await page.getByText(BANNER).waitFor()
    await page.locator('button.live').evaluate((button: HTMLElement) => button.click())
    for (let round = 0; round < 2; round++) {
      const asked = asks(page)
      await page.clock.fastForward(GIVEN_UP_MS)
      await asked
    }
    // Its requests have failed for good.
    if (name.trim() === '/') await page.locator('main .error-panel').first().waitFor()
    const during = await factsOf(page)
    expect({
      name,
      ...during,
      rows: Math.max(before.rows, during.rows),
      typed: await typedText(page),
    }).toEqual({ name, ...before, rows: during.rows, typed })
  }

  await cluster.startMaster(master.port)
  const job = await farm().start('hello', ['after.example'])
  for (const { page, name, typed } of tabs) {
    await page.getByText(BANNER).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'live', exact: true, includeHidden: true }).waitFor()
    await page.locator('main .error-panel').first().waitFor({ state: 'detached' })
    const kept = await page.evaluate(() => document.documentElement.dataset['loaded'])
    expect({ name, kept, typed: await typedText(page) }).toEqual({ name, kept: 'once', typed })
    if (name.trim() === '/jobs')
      await page.locator(`a[href="/jobs/${job}"]`).or(page.getByText('1 new')).first().waitFor()
  }
}, 900_000)

test('A screen that was not loaded before the master stopped opens when it returns', async () => {
  const { problems, farm: cluster } = farm()
  const page = await farm().open('/')
  await settle(page)
  problems.expect(/net::ERR_|preload CSS|NotLoaded|not be loaded/)
  const master = cluster.masters.find(({ program }) => program.running)
  if (!master) throw new Error('no master runs')
  await master.program.stop()
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByText('It opens when the server answers.').waitFor()
  await page.getByText(BANNER).waitFor()
  await cluster.startMaster(master.port)
  await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor()
  expect(new URL(page.url()).pathname).toBe('/settings')
}, 300_000)

test('A master that hangs without closing its connections is noticed, and followed again', async () => {
  const { problems, farm: cluster } = farm()
  const page = await farm().open('/jobs')
  await page.clock.install()
  await page.reload()
  await page.getByRole('button', { name: 'live', exact: true }).waitFor()
  const master = cluster.masters.find(({ program }) => program.running)
  if (!master) throw new Error('no master runs')
  problems.expect(/net::ERR_|response: GET .*: 5\d\d/)
  master.program.signal('SIGSTOP')
  try {
    await page.clock.fastForward(QUIET_MS)
    await page.getByText(BANNER).waitFor()
  } finally {
    master.program.signal('SIGCONT')
  }
  await page.getByText(BANNER).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'live', exact: true }).waitFor()
})

test('Lists are read although the browser takes itself for offline and drops their code once', async () => {
  const page = await farm().open('/')
  await settle(page)
  await page.evaluate(() => window.dispatchEvent(new Event('offline')))
  farm().problems.expect(/net::ERR_FAILED/)
  // Chromium asks for code once or twice, early and to execute it, before the import fails and Vite tells of it.
  await page.evaluate(() =>
    window.addEventListener(
      'vite:preloadError',
      () => (document.documentElement.dataset['dropped'] = 'once'),
    ),
  )
  let first: string | undefined
  await page.route('**/assets/*.js', async (route) => {
    first ??= route.request().url()
    const dropped = await page.evaluate(() => document.documentElement.dataset['dropped'])
    await (dropped || route.request().url() !== first ? route.continue() : route.abort())
  })
  await page.getByRole('link', { name: 'Jobs', exact: true }).click()
  await page
    .getByRole('link', { name: 'hello' })
    .or(page.getByRole('link', { name: 'survey' }))
    .first()
    .waitFor()
  expect(await page.evaluate(() => document.documentElement.dataset['dropped'])).toBe('once')
})

test('A screen whose style sheet the browser drops once has its style', async () => {
  const page = await farm().open('/')
  await settle(page)
  farm().problems.expect(/net::ERR_FAILED/)
  let dropped: string | undefined
  await page.route('**/assets/*.css', async (route) => {
    const isFirst = dropped === undefined
    dropped ??= route.request().url()
    await (isFirst ? route.abort() : route.continue())
  })
  await page.getByRole('link', { name: 'Jobs', exact: true }).click()
  await page.getByRole('heading', { name: 'Jobs', level: 1 }).waitFor()
  await page.waitForFunction(
    (url) => [...document.styleSheets].some((sheet) => sheet.href === url && sheet.cssRules.length > 0),
    dropped,
  )
})
