import { expect, test } from '@jest/globals'
import type { Locator } from 'playwright-core'
import { BUSY_MS, type Page, useConsole } from './harness.ts'
import { screenPaths, settle } from './screens.ts'

const KIB = 1_024
/** Compressed scripts of the first page. */
const MAX_SCRIPT_BYTES = 200 * KIB
/** Compressed styles of the first page. */
const MAX_STYLE_BYTES = 30 * KIB

const farm = useConsole()

const isFocused = (element: Element) => element === document.activeElement

test('The search finds workflows, runs and screens while one types, and Enter opens one', async () => {
  const id = await farm().start('hello', ['search.example'])
  const page = await farm().open('/settings')
  await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor()
  const search = page.getByRole('search').first().getByRole('combobox')
  await page.keyboard.press('/')
  await page.keyboard.type('search.example')
  await page.getByRole('option', { name: /search\.example hello/ }).waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL('**/runs/*-*')

  await search.fill(id)
  await page.getByRole('group', { name: 'Jobs' }).getByRole('option').click()
  await page.waitForURL(`**/jobs/${id}`)

  await search.fill('work')
  await page.getByRole('option', { name: /^Workflows/ }).waitFor()
  await search.press('ArrowDown')
  expect(await page.getByRole('option', { selected: true }).textContent()).toContain('Workers')
  await search.press('Enter')
  await page.waitForURL('**/workers')

  await search.fill('nothing has this name')
  await page.getByText('Nothing found.').waitFor()
  await search.press('Escape')
  expect(await search.inputValue()).toBe('')
})

test('A late answer of the search opens nothing when the user has gone to another screen', async () => {
  await farm().start('hello', ['late.example'])
  const page = await farm().open('/settings')
  await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor()
  const asked = Promise.withResolvers<void>()
  const answered = Promise.withResolvers<void>()
  await page.route(/\/api\/runs\?target=late\.example/, async (route) => {
    asked.resolve()
    await answered.promise
    await route.continue()
  })
  await page.keyboard.press('/')
  await page.keyboard.type('late.example')
  await page.keyboard.press('Enter')
  await asked.promise
  await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Workflows' }).click()
  await page.getByRole('heading', { name: 'Workflows', level: 1 }).waitFor()
  const answer = page.waitForResponse(/\/api\/runs\?target=late\.example/)
  answered.resolve()
  await (await answer).finished()
  await page.getByRole('combobox', { name: 'Search' }).click()
  // The answer is there, and has opened nothing.
  await page.getByRole('option', { name: /late\.example hello/ }).waitFor()
  expect(new URL(page.url()).pathname).toBe('/workflows')
})

test('Two keys open a screen, and the help lists all keys', async () => {
  const page = await farm().open('/')
  await page.getByRole('heading', { name: 'Nights', level: 1 }).waitFor()
  // The second key is waited for a short time only.
  await Promise.all(['g', 'r'].map((key) => page.keyboard.press(key)))
  await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor()
  await page.keyboard.press('?')
  const help = page.getByRole('dialog', { name: 'Keys' })
  await help.getByText('Next row').or(help.getByText('Findings')).first().waitFor()
  await page.keyboard.press('g')
  await page.keyboard.press('j')
  await page.keyboard.press('Escape')
  await help.waitFor({ state: 'detached' })
  expect(new URL(page.url()).pathname).toBe('/runs')
})

test('A menu works by keyboard, and the focus returns to its button', async () => {
  const page = await farm().open('/')
  const button = page.getByRole('button', { name: /user and theme/ })
  await button.focus()
  await page.keyboard.press('Enter')
  const dark = page.getByRole('menuitemcheckbox', { name: 'Theme: dark' })
  await dark.waitFor()
  await page.keyboard.press('End')
  expect(await page.getByRole('menuitem', { name: 'Log out' }).evaluate(isFocused)).toBe(true)
  await page.keyboard.press('Home')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.locator('html[data-theme=dark]').waitFor()
  await page.keyboard.press('Escape')
  await dark.waitFor({ state: 'hidden' })
  expect(await button.evaluate(isFocused)).toBe(true)
})

test('A menu takes keys as soon as it is open', async () => {
  const page = await farm().open('/')
  const button = page.getByRole('button', { name: /user and theme/ })
  const role = await button.evaluate((element: HTMLElement) => {
    element.click()
    return document.activeElement?.getAttribute('role')
  })
  expect(role).toBe('menu')
  await page.keyboard.press('End')
  expect(await page.getByRole('menuitem', { name: 'Log out' }).evaluate(isFocused)).toBe(true)
})

test('On a narrow window the menu keeps the focus, and closes when a screen is chosen', async () => {
  const page = await farm().open('/', { size: [375, 800] })
  const open = page.getByRole('button', { name: 'Menu', exact: true })
  await open.click()
  const drawer = page.getByRole('dialog', { name: 'Menu' })
  await drawer.waitFor()
  for (let step = 0; step < 40; step++) {
    await page.keyboard.press('Tab')
    const inside = await page.evaluate(
      () => document.activeElement === document.body || document.activeElement?.closest('dialog') !== null,
    )
    expect(inside).toBe(true)
  }
  await page.keyboard.press('Escape')
  await drawer.waitFor({ state: 'detached' })
  expect(await open.evaluate(isFocused)).toBe(true)
  await open.click()
  await drawer.getByRole('link', { name: 'Runs' }).click()
  await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor()
  await drawer.waitFor({ state: 'detached' })
})

test('The skip link leads to the content', async () => {
  const page = await farm().open('/runs')
  await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.waitForFunction(() => document.activeElement?.id === 'main')
})

test('The login page tells about caps lock and how to get a token', async () => {
  const page = await farm().open('/login', { loggedOut: true })
  const password = page.getByLabel('Password').last()
  await password.evaluate((element) =>
    element.dispatchEvent(new KeyboardEvent('keydown', { key: 'A', modifierCapsLock: true, bubbles: true })),
  )
  await page.getByText('Caps lock is on.').waitFor()
  await page.getByText('How do I get a token?').click()
  await page.getByText('scanfarm open', { exact: true }).waitFor()
})

test('The first page loads at most 200 KiB of compressed script', async () => {
  const page = await farm().open('/')
  await page.reload()
  await settle(page)
  const files = await page.evaluate(() =>
    performance.getEntriesByType('resource').map((entry) => {
      const { name, encodedBodySize, decodedBodySize } = entry as PerformanceResourceTiming
      return { name, encodedBodySize, decodedBodySize }
    }),
  )
  const sum = (end: string) =>
    files
      .filter(({ name }) => name.endsWith(end))
      .reduce((all, { encodedBodySize }) => all + encodedBodySize, 0)
  expect(sum('.js')).toBeGreaterThan(10 * KIB)
  expect(sum('.js')).toBeLessThanOrEqual(MAX_SCRIPT_BYTES)
  expect(sum('.css')).toBeGreaterThan(KIB)
  expect(sum('.css')).toBeLessThanOrEqual(MAX_STYLE_BYTES)
  const plain = files.filter(
    ({ name, encodedBodySize: sent, decodedBodySize: size }) =>
      /\.(js|css)$/.test(name) && size > KIB && sent >= size,
  )
  expect(plain).toEqual([])
})

test('Every screen of the navigation opens by its address', async () => {
  const page = await farm().open('/')
  await settle(page)
  const paths = await screenPaths(page)
  expect(paths.length).toBeGreaterThan(10)
  for (const path of paths) {
    const answer = await page.request.get(path, { headers: { accept: 'text/html' } })
    expect({
      path,
      status: answer.status(),
      page: (await answer.text()).includes('<div id="root">'),
    }).toEqual({ path, status: 200, page: true })
  }
})

const PASSWORD = 'a long password of Lin'
/** More presses than any of the screens has controls. */
const MOST_PRESSES = 150

const heading = (page: Page, name: string | RegExp): Promise<void> =>
  page.getByRole('heading', { name, level: 1 }).waitFor()

/** Presses Tab until the focus is there. */
const tabTo = async (page: Page, control: Locator): Promise<void> => {
  await control.waitFor()
  for (let press = 0; press < MOST_PRESSES; press++) {
    if (await control.evaluate((element) => element === document.activeElement)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`the key Tab does not reach ${String(control)}`)
}

const activate = async (page: Page, control: Locator): Promise<void> => {
  await tabTo(page, control)
  await page.keyboard.press('Enter')
}

const type = async (page: Page, control: Locator, text: string): Promise<void> => {
  await tabTo(page, control)
  await page.keyboard.type(text)
}

const follow = (page: Page, name: string): Promise<void> =>
  activate(page, page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name, exact: true }))

// Last, because the worker leaves.
test(
  'The keyboard alone logs in, starts a run, cancels and retries it, triages a finding and drains a worker',
  async () => {
    const { api } = farm()
    await api.POST('/users', { body: { username: 'lin', password: PASSWORD, role: 'operator' } })
    await api.POST('/vulnerabilities', {
      body: { workspace: 'shop', vuln_title: 'Old TLS', severity: 'high', asset_value: 'shop.test' },
    })
    const page = await farm().open('/', { loggedOut: true })

    await type(page, page.getByLabel('User'), 'lin')
    await type(page, page.getByLabel('Password').last(), PASSWORD)
    await page.keyboard.press('Enter')
    await heading(page, 'Nights')

    await follow(page, 'Workflows')
    await activate(page, page.getByRole('link', { name: 'endless', exact: true }))
    await heading(page, 'endless')
    await type(page, page.getByRole('textbox', { name: /^Targets/ }), 'keyboard.test')
    await activate(page, page.getByRole('button', { name: /^Start/ }))
    await page.waitForURL('**/jobs/*')

    await follow(page, 'Runs')
    await page.getByRole('link', { name: 'keyboard.test' }).first().waitFor()
    await tabTo(page, page.getByRole('region', { name: 'Runs' }))
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await heading(page, /^keyboard\.test/)
    const first = page.url()

    await activate(page, page.getByRole('button', { name: 'Cancel', exact: true }))
    await activate(page, page.getByRole('button', { name: 'Cancel the run' }))
    await activate(page, page.getByRole('button', { name: 'Retry', exact: true }))
    await page.waitForURL((url) => url.href !== first)
    await heading(page, /^keyboard\.test/)

    // The search opens the newest run of a target. On the page of a run, its address would be there already.
    await follow(page, 'Nights')
    await heading(page, 'Nights')
    await page.keyboard.press('/')
    await page.keyboard.type('keyboard.test')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/runs/*')

    await follow(page, 'Findings')
    await activate(page, page.getByRole('link', { name: 'Old TLS' }))
    await activate(page, page.getByRole('button', { name: /^Triage/ }))
    await activate(page, page.getByRole('dialog').getByRole('button', { name: 'Change 1 finding' }))
    await page.getByRole('main').getByText('confirmed').first().waitFor()

    await follow(page, 'Workers')
    await activate(page, page.getByRole('link', { name: 'worker-1' }).first())
    await heading(page, /worker-1/)
    // The page may see that the worker has left before the test does.
    farm().problems.expect(/GET \/api\/workers\/[^/]+: 404$/)
    await activate(page, page.getByRole('button', { name: 'Drain' }))
    await activate(page, page.getByRole('dialog').getByRole('button', { name: /Drain/ }))
    expect(await farm().farm.workers[0]?.ended).toEqual({ code: 0, signal: null })
  },
  BUSY_MS,
)
