import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from '@jest/globals'
import type axe from 'axe-core'
import { BUSY_MS, type Page, type Theme, useConsole } from './harness.ts'
import {
  eachView,
  NARROW,
  populate,
  resize,
  screenPaths,
  settle,
  type Size,
  SURVEY,
  WIDE,
} from './screens.ts'

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

const farm = useConsole({ modules: { survey: SURVEY } })
let details: readonly string[] = []
let source = ''

beforeAll(async () => {
  source = await readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
  details = [...(await populate(farm())), '/scopes?tab=was-it-us&address=one.test']
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
    const paths = [...screens, ...details]
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
