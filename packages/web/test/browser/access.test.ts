import { expect, test } from '@jest/globals'
import { createClient } from '@scanfarm/client'
import { useConsole } from './harness.ts'

const farm = useConsole({ workers: 0 })

test('A new token is shown once and works until it is deleted', async () => {
  const page = await farm().open('/access')
  await page.getByRole('button', { name: 'Create a token' }).click()
  await page.getByLabel('Name').fill('nightly build')
  await page.getByLabel('Role').selectOption('operator')
  await page.getByRole('button', { name: 'Create the token' }).click()
  await page.getByRole('button', { name: 'Copy the token' }).click()
  await page.getByText('Copied', { exact: true }).waitFor()
  const token = await page.evaluate(() => navigator.clipboard.readText())
  const client = createClient({ url: farm().url, token })
  expect((await client.GET('/session')).data).toMatchObject({ name: 'nightly build', role: 'operator' })

  await page.getByRole('button', { name: 'I have stored it' }).click()
  const row = page.getByRole('row').filter({ hasText: 'nightly build' })
  await row.getByText(/^in (?:89|90)d$/).waitFor()
  expect(await page.content()).not.toContain(token)
  await row.getByRole('button', { name: 'Delete' }).click()
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
  const body = { username: 'ada', password: 'a long password', role: 'viewer' } as const
  await farm().api.POST('/users', { body })
  const page = await farm().open('/access?tab=users')
  farm().problems.expect(/POST \/api\/users: 409/)
  await page.getByRole('button', { name: 'Create a user' }).click()
  await page.getByLabel('Name').fill('ada')
  await page.getByLabel('Password').fill('a long password')
  await page.getByRole('button', { name: 'Create the user' }).click()
  expect(await page.getByRole('alert').textContent()).toContain('a user named ada already exists')
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
