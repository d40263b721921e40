import { expect, test } from '@jest/globals'
import { useConsole } from './harness.ts'
import { screenPaths, settle } from './screens.ts'

const KIB = 1_024
/** Compressed scripts of the first page. */
const MAX_SCRIPT_BYTES = 200 * KIB
/** Compressed styles of the first page. */
const MAX_STYLE_BYTES = 30 * KIB

const farm = useConsole({ workers: 0 })

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
    }).toEqual({
      path,
      status: 200,
      page: true,
    })
  }
})
