import { setTimeout as delay } from 'node:timers/promises'
import { logInWith, openChromium } from '@scanfarm/web/testing'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { ensurePrograms, findProgram, PROGRAMS } from '../services/programs.ts'
import { Database, startCluster } from './cluster.ts'
import { atMost, type Figure } from './figure.ts'
import type { Harness } from './harness.ts'
import { addEvents, seedRuns } from './seed.ts'
import { percentile } from './timing.ts'

const LOADS = 7
const EVENTS_PER_SECOND = 1_000
const BATCHES_PER_SECOND = 10
const EVENTS_PER_RUN = 3
const LIVE_SECONDS = 20

/** (h) The console in Chromium, on the machine of the master. */
export async function* webConsole(harness: Harness): AsyncGenerator<Figure> {
  ensurePrograms([PROGRAMS.chromium])
  await using cluster = await startCluster(harness, { workers: 0 })
  await using db = await Database.open(cluster.postgres.url)
  await seedRuns(harness, db, { runs: harness.quick ? 1_000_000 : 10_000_000, recorded: 10_000 })
  await using browser = await openChromium(findProgram('chromium') ?? '')
  harness.use(browser)
  const { url } = await cluster.client.post<{ url: string }>('/session/links')
  const context = await logInWith(browser, url)
  yield await loading(harness, browser, { origin: cluster.client.url, known: context })
  yield* opening(harness, context)
  await using live = await Database.open(cluster.postgres.url)
  for (const path of ['/', '/runs', '/events']) yield await following(harness, context, live, path)
}

/** Each time with an empty cache. */
async function loading(
  harness: Harness,
  browser: Browser,
  { origin, known }: { origin: string; known: BrowserContext },
): Promise<Figure> {
  harness.note('loading the first page')
  const storageState = await known.storageState()
  const times: number[] = []
  for (let load = 0; load < LOADS; load++) {
    const context = await browser.newContext({ storageState })
    const page = await context.newPage()
    await page.goto(origin)
    await page.getByRole('heading', { level: 1 }).waitFor()
    times.push(await page.evaluate<number>(LARGEST_PAINT))
    await context.close()
  }
  return {
    part: 'h',
    name: 'largest contentful paint, empty cache',
    value: percentile(times, 50),
    unit: 'ms',
    target: atMost(1_000),
  }
}

const LARGEST_PAINT = `new Promise((resolve) => {
  new PerformanceObserver((list) => resolve(list.getEntries().at(-1).startTime))
    .observe({ type: 'largest-contentful-paint', buffered: true })
})`

/** From the press on the link to the paint of the first rows; each time in a new tab. */
async function* opening(harness: Harness, context: BrowserContext): AsyncGenerator<Figure> {
  harness.note('opening the list of runs')
  const times: number[] = []
  const addressTimes: number[] = []
  for (let open = 0; open < LOADS; open++) {
    const page = await context.newPage()
    await page.goto('/workers')
    await page.getByRole('heading', { level: 1, name: 'Workers' }).waitFor()
    times.push(await page.evaluate<number>(OPEN_RUNS))
    await page.goto('/runs')
    addressTimes.push(await page.evaluate<number>(ROWS_PAINTED))
    await page.close()
  }
  const name = 'list of runs'
  yield {
    part: 'h',
    name: `${name}, by its link, p50`,
    value: percentile(times, 50),
    unit: 'ms',
    target: atMost(300),
  }
  yield { part: 'h', name: `${name}, by its address, p50`, value: percentile(addressTimes, 50), unit: 'ms' }
}

const ROWS = '[role="rowgroup"] [role="row"]'
/** Resolves with the time since the beginning of the page. */
const ROWS_PAINTED = `new Promise((resolve) => {
  const look = () =>
    document.querySelector('${ROWS}') ? requestAnimationFrame(() => resolve(performance.now())) : setTimeout(look, 2)
  look()
})`
const OPEN_RUNS = `(async () => {
  const began = performance.now()
  document.querySelector('nav[aria-label="Screens"] a[href="/runs"]').click()
  while (location.pathname !== '/runs') await new Promise(requestAnimationFrame)
  return (await ${ROWS_PAINTED}) - began
})()`

/** The share of one core that the tab uses while events of runs arrive. */
async function following(
  harness: Harness,
  context: BrowserContext,
  db: Database,
  path: string,
): Promise<Figure> {
  harness.note(`${path} while ${EVENTS_PER_SECOND} events a second arrive`)
  const page = await context.newPage()
  await page.goto(path)
  await page.getByText('live', { exact: true }).waitFor()
  const meter = await taskMeter(page)
  // What the page does when it opens is not measured.
  await writeEvents(db, 3)
  const before = await meter()
  const began = performance.now()
  await writeEvents(db, LIVE_SECONDS)
  const seconds = (await meter()) - before
  const share = (100 * seconds * 1_000) / (performance.now() - began)
  await page.close()
  return {
    part: 'h',
    name: `${path} during ${EVENTS_PER_SECOND} events/s, of one core`,
    value: share,
    unit: '%',
    target: atMost(30),
  }
}

/** Seconds that the main thread of the tab has worked. */
const taskMeter = async (page: Page): Promise<() => Promise<number>> => {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Performance.enable')
  return async () => {
    const { metrics } = await devtools.send('Performance.getMetrics')
    return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0
  }
}

const writeEvents = async (db: Database, seconds: number): Promise<void> => {
  const began = performance.now()
  for (let batch = 1; batch <= seconds * BATCHES_PER_SECOND; batch++) {
    await addEvents(db, Math.ceil(EVENTS_PER_SECOND / BATCHES_PER_SECOND / EVENTS_PER_RUN))
    await delay(Math.max(0, (batch * 1_000) / BATCHES_PER_SECOND - (performance.now() - began)))
  }
}
