import { expect, test } from '@jest/globals'
import type { Locator } from 'playwright-core'
import { type Page, useConsole } from './harness.ts'

const USER = 'lin'
const PASSWORD = 'a long password of Lin'
/** More presses than any of the screens has controls. */
const MOST_PRESSES = 150

const farm = useConsole()

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

test('The keyboard alone logs in, starts a run, cancels and retries it, triages a finding and drains a worker', async () => {
  const { api } = farm()
  await api.POST('/users', { body: { username: USER, password: PASSWORD, role: 'operator' } })
  await api.POST('/vulnerabilities', {
    body: { workspace: 'shop', vuln_title: 'Old TLS', severity: 'high', asset_value: 'shop.test' },
  })
  const page = await farm().open('/', { loggedOut: true })

  await type(page, page.getByLabel('User'), USER)
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
})
