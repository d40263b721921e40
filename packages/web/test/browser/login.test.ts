import { expect, test } from '@jest/globals'
import { type Page, useConsole } from './harness.ts'
import { Problems } from './problems.ts'

const NAME = 'ada'
const PASSWORD = 'a long password of Ada'

const farm = useConsole({ workers: 0 })

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
  await logOut(page)
  await page.goto('/runs')
  await page.waitForURL('**/login*')
})

test('When the session ends elsewhere, the next step leads to the login and back to that page', async () => {
  const page = await farm().open('/')
  await overview(page).waitFor()
  const other = await page.context().newPage()
  await other.goto('/')
  farm().problems.expect(/events\/stream: net::ERR_CONNECTION_RESET/)
  await logOut(other)
  await page.getByRole('link', { name: 'Runs' }).click()
  await page.waitForURL('**/login?to=%2Fruns')
  await logIn(page, PASSWORD)
  await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor()
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
