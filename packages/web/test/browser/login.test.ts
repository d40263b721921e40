import { expect, test } from '@jest/globals'
import { useConsole } from './harness.ts'

const farm = useConsole({ workers: 0 })

test('A login link logs in once', async () => {
  const link = await farm().link()
  const page = await farm().open('about:blank', { loggedOut: true })
  await page.goto(link)
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  expect(page.url()).toBe(`${farm().url}/`)

  const other = await farm().open('about:blank', { loggedOut: true })
  farm().problems.expect(/POST \/api\/session: 401/)
  await other.goto(link)
  await other.getByRole('alert').waitFor()
})
