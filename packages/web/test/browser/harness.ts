import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, expect } from '@jest/globals'
import { TestCluster, type TestClusterOptions } from '@scanfarm/cli/testing'
import { createClient, type Client } from '@scanfarm/client'
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { openChromium } from './chromium.ts'
import { isDropped, Problems } from './problems.ts'

export type { Locator, Page } from 'playwright-core'

const root = join(import.meta.dirname, '../../../..')
const START_MS = 300_000
/** On a busy machine a screen takes many times as long as on a quiet one. */
const WAIT_MS = 60_000
/** For a test that visits all screens. */
export const BUSY_MS = 900_000

export type Role = 'viewer' | 'operator' | 'admin'
export type Theme = 'light' | 'dark'

export interface PageOptions {
  /** Default: the first token, an admin. */
  readonly role?: Role
  /** Another token of the role: each caller has at most ten event streams. */
  readonly caller?: string
  readonly theme?: Theme
  /** Width and height in pixels; default 1440 × 900. */
  readonly size?: readonly [width: number, height: number]
  /** Opens the page without a login. */
  readonly loggedOut?: boolean
}

/** YAML of modules by name. */
export type Modules = Readonly<Record<string, string>>

export interface ConsoleOptions extends TestClusterOptions {
  readonly modules?: Modules
}

/** The modules that most tests need. */
const MODULES: Modules = {
  /** Writes 20 lines; the target is one of them. */
  hello: `
kind: module
name: hello
description: Greets a target
params:
  - {name: word, default: hello}
steps:
  - name: greet
    type: bash
    command: for line in $(seq 1 20); do echo "{{word}} {{Target}} line $line"; done
`,
  /** Runs until it is cancelled. */
  endless: `
kind: module
name: endless
steps:
  - name: wait
    type: bash
    command: echo waiting; while :; do sleep 1; done
`,
  /** Always fails. */
  broken: `
kind: module
name: broken
steps:
  - name: break
    type: bash
    command: echo cannot reach {{Target}} >&2; exit 3
`,
}

/** A farm, and Chromium that opens its console. */
export class Console implements AsyncDisposable {
  readonly farm: TestCluster
  readonly browser: Browser
  readonly problems: Problems
  /** The API, called as an admin. */
  readonly api: Client
  readonly #tokens = new Map<string, Client>()
  readonly #scope: AsyncDisposableStack

  private constructor(farm: TestCluster, browser: Browser, scope: AsyncDisposableStack) {
    this.farm = farm
    this.browser = browser
    this.problems = new Problems(farm.client.url)
    this.api = createClient({ url: farm.client.url, token: tokenOf(farm) })
    this.#scope = scope
  }

  static async start({ modules, ...options }: ConsoleOptions = {}): Promise<Console> {
    await using scope = new AsyncDisposableStack()
    await buildConsole()
    const browser = scope.use(await openChromium(chromiumProgram()))
    const farm = scope.use(await TestCluster.start({ queue: 'postgres', workers: 1, slots: 4, ...options }))
    const console = new Console(farm, browser, scope.move())
    await console.addModules({ ...MODULES, ...modules })
    return console
  }

  get url(): string {
    return this.farm.client.url
  }

  async addModules(modules: Modules): Promise<void> {
    for (const [name, yaml] of Object.entries(modules))
      await writeFile(join(this.farm.folder, 'workflows/modules', `${name}.yaml`), yaml.trimStart())
    await this.api.POST('/workflows/refresh')
  }

  /** Starts a job, and returns its id. */
  async start(
    module: string,
    targets: readonly string[],
    params: Record<string, string> = {},
  ): Promise<string> {
    return await this.farm.client
      .post<{ job_id: string }>('/runs', { module, targets, params, run_mode: 'distributed' })
      .then((answer) => answer.job_id)
  }

  /** Starts a job, waits for its end, and returns its id. */
  async finish(module: string, targets: readonly string[], params?: Record<string, string>): Promise<string> {
    const id = await this.start(module, targets, params)
    await this.api.waitForJob(id)
    return id
  }

  /** A link that logs a browser in once. */
  async link(role: Role = 'admin', caller = ''): Promise<string> {
    const { data } = await (await this.#as(role, caller)).POST('/session/links')
    return data.url
  }

  /** A tab in a profile of its own, at `path`, logged in by a link. If Chromium drops a request, the tab is opened again. */
  async open(path = '/', options: PageOptions = {}): Promise<Page> {
    const { theme = 'light', size = [1440, 900] } = options
    const settings: BrowserContextOptions = {
      baseURL: this.url,
      colorScheme: theme,
      viewport: { width: size[0], height: size[1] },
      reducedMotion: 'reduce',
      permissions: ['clipboard-read', 'clipboard-write'],
    }
    for (;;) {
      const context = await this.browser.newContext(settings)
      context.setDefaultTimeout(WAIT_MS)
      await this.problems.watch(context)
      const dropped = new Promise<undefined>((resolve) =>
        context.on('requestfailed', (request) => isDropped(request) && resolve(undefined)),
      )
      const opening = this.#load(context, path, options)
      opening.catch(() => {})
      const page = await Promise.race([opening, dropped])
      if (page !== undefined) return page
      await context.request.delete(`${this.url}/api/session`, { headers: { 'X-Scanfarm-Console': '1' } })
      await context.close()
      this.problems.forget(context)
    }
  }

  async #load(context: BrowserContext, path: string, options: PageOptions): Promise<Page> {
    const { role, caller, loggedOut = false } = options
    const page = await context.newPage()
    // Without the login page, which would load the console twice.
    if (!loggedOut)
      await context.request.post(`${this.url}/api/session`, {
        data: { code: new URL(await this.link(role, caller)).hash.replace('#code=', '') },
        headers: { 'X-Scanfarm-Console': '1' },
        failOnStatusCode: true,
      })
    await page.goto(path)
    if (path !== 'about:blank') await page.locator('h1').first().waitFor()
    return page
  }

  /** Closes all tabs. */
  async closePages(): Promise<void> {
    await Promise.all(this.browser.contexts().map((context) => context.close()))
  }

  async #as(role: Role, caller: string): Promise<Client> {
    if (role === 'admin' && caller === '') return this.api
    const name = `${role} ${caller}`
    const known = this.#tokens.get(name)
    if (known) return known
    const { data } = await this.api.POST('/tokens', { body: { name, role } })
    const client = createClient({ url: this.url, token: data.token })
    this.#tokens.set(name, client)
    return client
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#scope.disposeAsync()
  }
}

const BUILD = join(root, 'scripts/console/main.ts')

export const buildConsole = (): Promise<unknown> =>
  promisify(execFile)(process.execPath, ['--disable-warning=ExperimentalWarning', BUILD], { cwd: root })

const tokenOf = (farm: TestCluster): string =>
  (farm.client.callTo('/').headers['authorization'] ?? '').replace('Bearer ', '')

const chromiumProgram = (): string => {
  const path = process.env['SCANFARM_TEST_CHROMIUM']
  if (!path) throw new Error('SCANFARM_TEST_CHROMIUM is not set: run the tests with npm test')
  return path
}

/** Why a button cannot be pressed, as a screen reader says it. Waits for the button and the reason. */
export const refusalOf = async (button: Locator): Promise<string> => {
  const refused = button.and(button.page().locator('[aria-disabled="true"][aria-describedby]'))
  return await refused.evaluate((element) => {
    const id = element.getAttribute('aria-describedby') ?? ''
    return element.ownerDocument.getElementById(id)?.textContent ?? ''
  })
}

/** One farm and Chromium per file. A tab's problem fails its test, unless `console.problems.expect(…)`. */
export const useConsole = (options: ConsoleOptions = {}): (() => Console) => {
  let console: Console | undefined
  beforeAll(async () => {
    console = await Console.start(options)
  }, START_MS)
  afterEach(async () => {
    await console?.closePages()
    expect(console?.problems.take()).toEqual([])
  })
  afterAll(async () => {
    await console?.[Symbol.asyncDispose]()
  }, START_MS)
  return () => {
    if (!console) throw new Error('the farm has not started')
    return console
  }
}
