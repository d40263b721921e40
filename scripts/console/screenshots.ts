// npm run screenshots: takes pictures of every screen of the demo farm, which it starts and stops, into .cache/screenshots:
// light and dark, 1,440 and 375 pixels wide. --docs: also writes the pictures of the documents (docs/images).
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createClient, type Client } from '@scanfarm/client'
import { logInWith, openChromium } from '@scanfarm/web/testing'
import type { Page } from 'playwright-core'
import { ensurePrograms, findProgram, PROGRAMS } from '../services/programs.ts'

const SIZES = [
  { width: 1_440, height: 900 },
  { width: 375, height: 812 },
] as const
const THEMES = ['light', 'dark'] as const
/** Of the documents, by the name of the picture. `job` there shows a farm with more work than the demo. */
const IN_DOCS = ['run', 'findings', 'overview']

const root = join(import.meta.dirname, '../..')
const folder = join(root, '.cache/screenshots')
const images = join(root, 'docs/images')
const DEMO = join(root, 'scripts/demo/main.ts')

const demo = (argument: string): string =>
  execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', DEMO, argument], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })

const read = (output: string, name: string): string => {
  const value = new RegExp(`^${name}=(.+)$`, 'm').exec(output)?.[1]
  if (value === undefined) throw new Error(`the demo printed no ${name}`)
  return value
}

/** Paths of the screens that show one thing, by the name of their picture. */
const detailPaths = async ({ GET }: Client): Promise<Record<string, string>> => {
  const { data: runs } = await GET('/runs', { params: { query: { limit: 1 } } })
  const { data: findings } = await GET('/vulnerabilities', { params: { query: { limit: 1 } } })
  const { data: workers } = await GET('/workers')
  const [run] = runs.data
  const [finding] = findings.data
  const [worker] = workers.data
  if (!run || !finding || !worker) throw new Error('the demo left no run, finding or worker')
  return {
    job: `/jobs/${run.run_group_id}`,
    run: `/runs/${run.run_uuid}`,
    'run-log': `/runs/${run.run_uuid}?tab=log`,
    finding: `/findings/${finding.id}`,
    workflow: `/workflows/${run.workflow_name}`,
    worker: `/workers/${worker.id}`,
  }
}

const nameOf = (path: string): string => (path === '/' ? 'overview' : path.slice(1).replaceAll('/', '-'))

const listPaths = async (page: Page): Promise<Record<string, string>> => {
  await page.goto('/')
  const links = page.locator('nav[aria-label="Screens"] a')
  await links.first().waitFor({ state: 'attached' })
  const all = await links.all()
  const paths = await Promise.all(all.map((link) => link.getAttribute('href')))
  return Object.fromEntries(paths.map((path) => [nameOf(path ?? '/'), path ?? '/']))
}

const show = async (page: Page, path: string): Promise<void> => {
  await page.goto(path)
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  await page.locator('.skeleton, [aria-busy="true"]').first().waitFor({ state: 'detached' })
  // Charts and tables are drawn in the frame after their data.
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
}

const takeAll = async (url: string, token: string, toDocs: boolean): Promise<number> => {
  const client = createClient({ url, token })
  await using browser = await openChromium(findProgram('chromium') ?? '')
  let taken = 0
  for (const colorScheme of THEMES)
    for (const viewport of SIZES) {
      const { data: link } = await client.POST('/session/links')
      const context = await logInWith(browser, link.url, { colorScheme, viewport, reducedMotion: 'reduce' })
      const page = await context.newPage()
      const paths = { ...(await listPaths(page)), ...(await detailPaths(client)) }
      for (const [name, path] of Object.entries(paths)) {
        await show(page, path)
        const file = join(folder, `${name}-${colorScheme}-${viewport.width}.png`)
        await page.screenshot({ path: file })
        const wanted = toDocs && colorScheme === 'light' && viewport === SIZES[0] && IN_DOCS.includes(name)
        if (wanted) copyFileSync(file, join(images, `${name}.png`))
        taken++
      }
      await context.close()
    }
  return taken
}

const unknown = process.argv.slice(2).find((argument) => argument !== '--docs')
if (unknown !== undefined) throw new Error(`unknown option ${unknown}: the only one is --docs`)
ensurePrograms([PROGRAMS.chromium])
mkdirSync(folder, { recursive: true })
mkdirSync(images, { recursive: true })
const kept = demo('--keep')
try {
  const taken = await takeAll(
    read(kept, 'SCANFARM_URL'),
    read(kept, 'SCANFARM_TOKEN'),
    process.argv.includes('--docs'),
  )
  console.log(`${taken} pictures are in ${folder}`)
} finally {
  demo('--down')
}
