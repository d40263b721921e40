// long
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import { consoleBuilds, hashOfSources } from '@scanfarm/server/console-build'
import { buildConsole, Console } from './harness.ts'
import { settle } from './screens.ts'

const ROOT = join(import.meta.dirname, '../../../..')
const WEB = join(ROOT, 'packages/web')
const BUNDLES = '.cache/bundle'
const LEFT_OUT = new Set(
  ['.git', '.cache', '.scanfarm', 'node_modules'].map((name) => join(ROOT, name)).concat(WEB),
)

/** The same build with other names of its files, as if each had changed. */
const renameFiles = async (build: string): Promise<void> => {
  const names = (await readdir(join(build, 'assets'))).filter((name) => /\.(?:js|css)$/.test(name))
  const other = (name: string): string => name.replace(/\.(\w+)$/, '-second.$1')
  for (const path of ['index.html', ...names.map((name) => join('assets', name))]) {
    let text = await readFile(join(build, path), 'utf8')
    for (const name of names) text = text.replaceAll(name, other(name))
    await writeFile(join(build, path), text)
  }
  for (const name of names) await rename(join(build, 'assets', name), join(build, 'assets', other(name)))
}

/** An installation like an image: with a sealed bundle, without the sources of the console, with two builds of it. */
const install = async (folder: string): Promise<void> => {
  await cp(ROOT, folder, { recursive: true, verbatimSymlinks: true, filter: (path) => !LEFT_OUT.has(path) })
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  // Builds the bundle unless it is current.
  await promisify(execFile)(join(ROOT, 'scripts/scanfarm'), ['--version'])
  const name = (await readFile(join(ROOT, BUNDLES, 'current'), 'utf8')).trim()
  const bundle = join(folder, BUNDLES, name)
  await cp(join(ROOT, BUNDLES, name), bundle, { recursive: true, verbatimSymlinks: true })
  await writeFile(join(folder, BUNDLES, 'current'), `${name}\n`)
  for (const file of await readdir(bundle))
    if (file.endsWith('sources.json')) await writeFile(join(bundle, file), '[]')
  await buildConsole()
  const built = join(consoleBuilds(ROOT), (await hashOfSources(ROOT)) ?? '')
  for (const name of ['first', 'second']) {
    const build = join(folder, '.cache/console', name)
    // Without its compressed forms, which have the names inside.
    await cp(built, build, { recursive: true, filter: (path) => !/\.(?:br|gz)$/.test(path) })
    if (name === 'second') await renameFiles(build)
  }
}

test('A tab that is older than the master says so, and opens screens whose code is gone after a reload', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'scanfarm-upgrade-'))
  await using scope = new AsyncDisposableStack()
  scope.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  await install(folder)
  const builds = join(folder, '.cache/console')
  await writeFile(join(builds, 'current'), 'first\n')
  const console = scope.use(await Console.start({ workers: 0, program: join(folder, 'scripts/scanfarm') }))
  const page = await console.open('/')
  await settle(page)
  const script = () => page.locator('script[type="module"][src]').first().getAttribute('src')
  const before = await script()
  expect(await readdir(join(builds, 'first/assets'))).toContain(before?.replace('/assets/', ''))

  console.problems.expect(/net::ERR_|NotLoaded|could not be loaded|preload CSS|Refused to apply style/)
  console.problems.expect(/GET \/assets\/.*: 404/)
  const [master] = console.farm.masters
  if (!master) throw new Error('the farm has no master')
  await master.program.kill()
  await writeFile(join(builds, 'current'), 'second\n')
  await rm(join(builds, 'first'), { recursive: true })
  await console.farm.startMaster(master.port)
  await page.getByText('The server has a newer console.').waitFor()
  // While it looks as if the server does not answer, the page waits for it instead.
  await page.getByRole('button', { name: 'live', exact: true }).waitFor()
  await page.getByText('No answer from the server').waitFor({ state: 'detached' })
  expect(await script()).toBe(before)

  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByRole('button', { name: 'Load the page again' }).click()
  await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor()
  expect(await script()).not.toBe(before)
  expect(await page.getByText('The server has a newer console.').count()).toBe(0)
  await console.closePages()
  expect(console.problems.take()).toEqual([])
}, 600_000)
