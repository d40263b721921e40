import { expect, test } from '@jest/globals'
import { createClient } from '@scanfarm/client'
import { type Page, useConsole } from './harness.ts'
import { Problems } from './problems.ts'

const NAME = 'ada'
const PASSWORD = 'a long password of Ada'

const farm = useConsole({ workers: 0 })

test('A new token is shown once and works until it is deleted', async () => {
  const page = await farm().open('/access')
  await page.getByRole('button', { name: 'Create a token' }).click()
  await page.getByLabel('Name').fill('nightly build')
  await page.getByLabel('Role').selectOption('operator')
  await page.getByRole('button', { name: 'Create the token' }).click()
  await page.getByRole('button', { name: 'Copy the token' }).click()
  const token = await (await page.waitForFunction(() => navigator.clipboard.readText())).jsonValue()
  const client = createClient({ url: farm().url, token })
  expect((await client.GET('/session')).data).toMatchObject({ name: 'nightly build', role: 'operator' })

  await page.getByRole('button', { name: 'I have stored it' }).click()
  const row = page.getByRole('row').filter({ hasText: 'nightly build' })
  await row.getByText(/^in (?:89|90)d$/).waitFor()
  expect(await page.content()).not.toContain(token)
  await row.getByRole('button', { name: 'Delete' }).click()
  // The lines of the row do not wrap, those of its dialog do.
  expect(await page.getByRole('dialog').evaluate((one) => one.scrollWidth - one.clientWidth)).toBe(0)
  await page.getByRole('button', { name: 'Delete the token' }).click()
  await row.waitFor({ state: 'detached' })
  await expect(client.GET('/session')).rejects.toThrow('the token is unknown')
})

test('A user is created, changed and deleted, and the audit log shows who did it', async () => {
  const page = await farm().open('/access?tab=users')
  await page.getByRole('button', { name: 'Create a user' }).first().click()
  await page.getByLabel('Name').fill('grace')
  await page.getByLabel('Password').fill('a long password')
  await page.getByRole('button', { name: 'Create the user' }).click()
  const row = page.getByRole('row').filter({ hasText: 'grace' })
  await row.getByText('viewer').waitFor()
  await row.getByRole('button', { name: 'Change' }).click()
  await page.getByLabel('Role').selectOption('operator')
  await page.getByRole('button', { name: 'Save' }).click()
  await row.getByText('operator').waitFor()
  await row.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Delete the user' }).click()
  await row.waitFor({ state: 'detached' })

  await page.getByRole('tab', { name: 'Audit' }).click()
  for (const method of ['POST', 'PATCH', 'DELETE'])
    await page
      .getByRole('row')
      .filter({ hasText: method })
      .filter({ hasText: '/users' })
      .filter({ hasText: 'first' })
      .waitFor()
})

test('A name that exists is refused beside the form', async () => {
  const body = { username: 'lin', password: 'a long password', role: 'viewer' } as const
  await farm().api.POST('/users', { body })
  const page = await farm().open('/access?tab=users')
  farm().problems.expect(/POST \/api\/users: 409/)
  await page.getByRole('button', { name: 'Create a user' }).click()
  await page.getByLabel('Name').fill('lin')
  await page.getByLabel('Password').fill('a long password')
  await page.getByRole('button', { name: 'Create the user' }).click()
  expect(await page.getByRole('alert').textContent()).toContain('a user named lin already exists')
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
})

test('Another browser of mine is logged out', async () => {
  const [page, other] = [
    await farm().open('/access?tab=logins', { role: 'operator' }),
    await farm().open('/', { role: 'operator' }),
  ]
  await page.reload()
  await page.getByText('this browser').waitFor()
  await page.getByRole('button', { name: 'Log out', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Log out' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  farm().problems.expect(/: 401$|events\/stream: net::ERR_CONNECTION_RESET/)
  await other.goto('/runs')
  await other.waitForURL('**/login*')
})

test('A viewer sees their own logins, and why the rest is closed', async () => {
  const page = await farm().open('/access', { role: 'viewer' })
  await page.getByText('this browser').waitFor()
  await page.getByRole('tab', { name: 'Users' }).click()
  await page.getByText('This needs the role admin. You have the role viewer.').waitFor()
  expect(await page.getByRole('link', { name: 'Settings' }).count()).toBe(0)
  await page.goto('/settings')
  await page.getByText('Only administrators see the settings').waitFor()
  const reload = page.getByRole('button', { name: 'Reload' })
  expect(await reload.getAttribute('aria-disabled')).toBe('true')
  await reload.focus()
  await page.getByRole('tooltip').filter({ hasText: 'This needs the role admin' }).waitFor()
})

test('Settings are searched, with their origin, and reloaded', async () => {
  const page = await farm().open('/settings')
  await page.getByRole('main').getByLabel('Search').fill('lease_ms')
  await page.keyboard.press('Enter')
  await page.getByText('worker.lease_ms', { exact: true }).waitFor()
  await page.getByText('http.port', { exact: true }).waitFor({ state: 'detached' })
  expect(page.url()).toContain('q=lease_ms')
  await page.getByRole('button', { name: 'Reload' }).click()
  await page.getByText(/Workflows reloaded/).waitFor()
  await page.getByRole('tab', { name: 'YAML' }).click()
  expect(await page.getByRole('region', { name: 'The settings as YAML' }).textContent()).toContain(
    'lease_ms:',
  )
})

const overview = (page: Page) => page.getByRole('heading', { name: 'Nights', level: 1 })

/** Logs in by the form with a password. */
const logIn = async (page: Page, password: string): Promise<void> => {
  await page.getByLabel('User').fill(NAME)
  await page.getByLabel('Password').last().fill(password)
  await page.getByRole('button', { name: 'Log in' }).click()
}

const logOut = async (page: Page): Promise<void> => {
  // The master refuses what the page asked just before the session ended.
  farm().problems.expect(/GET .*: 401$/)
  await page.getByRole('button', { name: /user and theme/ }).click()
  await page.getByRole('menuitem', { name: 'Log out' }).click()
  await page.waitForURL('**/login*')
}

test('A login link logs in once, and its code leaves the address and the history', async () => {
  const link = await farm().link()
  const page = await farm().open('about:blank', { loggedOut: true })
  await page.goto(link)
  await overview(page).waitFor()
  expect(page.url()).toBe(`${farm().url}/`)
  await page.goBack()
  expect(page.url()).not.toContain('code')

  const other = await farm().open('about:blank', { loggedOut: true })
  farm().problems.expect(/POST \/api\/session: 401/)
  await other.goto(link)
  expect(await other.getByRole('alert').textContent()).toMatch(
    /the login link is unknown, was used or is older/,
  )
})

test('A login link works in a tab that shows the login page already', async () => {
  const page = await farm().open('/', { loggedOut: true })
  await page.waitForURL('**/login*')
  await page.goto(await farm().link())
  await overview(page).waitFor()
})

test('A wrong password shows a message, and the right one opens the page that was asked for', async () => {
  await farm().api.POST('/users', { body: { username: NAME, password: PASSWORD, role: 'operator' } })
  const page = await farm().open('/runs?status=failed', { loggedOut: true })
  farm().problems.expect(/POST \/api\/session: 401/)
  await logIn(page, 'not the password')
  expect(await page.getByRole('alert').textContent()).toMatch(/password/i)
  await logIn(page, PASSWORD)
  await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor()
  expect(page.url()).toBe(`${farm().url}/runs?status=failed`)
  await page
    .getByRole('button', { name: /user and theme/ })
    .getByText(NAME)
    .waitFor()
})

test('A token logs in, and a wrong one shows a message', async () => {
  const { data } = await farm().api.POST('/tokens', { body: { name: 'of a browser', role: 'viewer' } })
  const page = await farm().open('/', { loggedOut: true })
  await page.getByRole('tab', { name: 'API token' }).click()
  farm().problems.expect(/POST \/api\/session: 401/)
  await page.getByLabel('API token').last().fill('sft_wrong')
  await page.getByRole('button', { name: 'Log in' }).click()
  expect(await page.getByRole('alert').textContent()).toMatch(/the token is unknown/)
  await page.getByLabel('API token').last().fill(data.token)
  await page.getByRole('button', { name: 'Log in' }).click()
  await overview(page).waitFor()
})

test('After a log out, no page opens without another login', async () => {
  const page = await farm().open('/')
  await overview(page).waitFor()
  // The server resets the streams of an ended login: the page closes its own before.
  const streamEnd = page.waitForEvent('requestfailed', (one) => one.url().endsWith('/events/stream'))
  await page.route('**/api/session', async (route) => {
    await streamEnd
    await route.continue()
  })
  await logOut(page)
  await page.goto('/runs')
  await page.waitForURL('**/login*')
})

test('When the session ends elsewhere, a page that asks for nothing leads to the login and back', async () => {
  const page = await farm().open('/workflows')
  const workflows = page.getByRole('heading', { name: 'Workflows', level: 1 })
  await workflows.waitFor()
  const other = await page.context().newPage()
  await other.goto('/')
  farm().problems.expect(/events\/stream: net::ERR_CONNECTION_RESET/)
  await logOut(other)
  await page.waitForURL('**/login?to=%2Fworkflows')
  await logIn(page, PASSWORD)
  await workflows.waitFor()
})

test('The login page never leads to another host', async () => {
  for (const to of ['//evil.test/', '/\\evil.test/', 'https://evil.test/', 'javascript:alert(1)']) {
    const page = await farm().open(`/login?to=${encodeURIComponent(to)}`, { loggedOut: true })
    await logIn(page, PASSWORD)
    await overview(page).waitFor()
    expect(page.url()).toBe(`${farm().url}/`)
    await page.context().close()
  }
})

test('Problems of a profile that the tests give up are forgotten, also refused requests', async () => {
  const problems = new Problems(farm().url)
  const refusedIn = async () => {
    const context = await farm().browser.newContext()
    await problems.watch(context)
    await (await context.newPage()).goto(`${farm().url}/api/runs`)
    await context.close()
    return context
  }
  await refusedIn()
  expect(problems.take()).toEqual(['response: GET /api/runs: 401'])
  problems.forget(await refusedIn())
  expect(problems.take()).toEqual([])
})
