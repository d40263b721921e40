import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from '@jest/globals'
import type axe from 'axe-core'
import { type Page, type Theme, useConsole } from './harness.ts'
import { eachView, populate, screenPaths, settle, SURVEY } from './screens.ts'

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

const sizes: readonly { theme: Theme; size: readonly [number, number] }[] = [
  { theme: 'light', size: [1440, 900] },
  { theme: 'dark', size: [375, 812] },
]

for (const { theme, size } of sizes)
  test(`No screen violates WCAG 2.2 AA in the ${theme} theme at ${size[0]} pixels`, async () => {
    const page = await farm().open('/', { theme, size })
    await settle(page)
    /** The views of each violation. */
    const found: Record<string, string[]> = {}
    for (const path of [...(await screenPaths(page)), ...details])
      await eachView(page, path, async (view) => {
        for (const violation of await violations(page)) (found[violation] ??= []).push(view)
      })
    expect(found).toEqual({})
  })

test('The login page violates nothing of WCAG 2.2 AA', async () => {
  for (const theme of ['light', 'dark'] as const) {
    const page = await farm().open('/login', { theme, loggedOut: true })
    await settle(page)
    expect(await violations(page)).toEqual([])
  }
})
