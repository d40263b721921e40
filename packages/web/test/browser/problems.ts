import type { BrowserContext, Page, Request, Response } from 'playwright-core'

/** Aborted by the page: it was left, or it closed its event stream. */
const ABORTED = 'net::ERR_ABORTED'
/** Chromium drops what it receives when the machine gets a network: other tests make some for their containers. */
const DROPPED = 'net::ERR_NETWORK_CHANGED'
export const isDropped = (request: Request): boolean => request.failure()?.errorText === DROPPED
/** Chromium prints this beside each failed response, which is recorded itself. */
const FAILED_RESPONSE = /^Failed to load resource/
const REPORT = '__reportProblem'

/** Runs in every frame before its own scripts: sends each violation of the content security policy to the test. */
const reportViolations = (report: string): void =>
  document.addEventListener('securitypolicyviolation', (violation) => {
    const { effectiveDirective, blockedURI, sourceFile, lineNumber, sample } = violation
    const text = `${effectiveDirective} blocked ${blockedURI} ${sample} (${sourceFile}:${lineNumber})`
    const { [report]: send } = window as unknown as Record<string, ((line: string) => void) | undefined>
    send?.(text)
  })

/** Collects what no screen may do: errors, reports of the content security policy, dialogs, requests that fail. */
export class Problems {
  readonly #origin: string
  #found: { readonly context: BrowserContext; readonly problem: string }[] = []
  #expected: RegExp[] = []

  constructor(origin: string) {
    this.#origin = origin
  }

  /** Problems with this text are not reported until the end of the test. */
  expect(problem: RegExp): void {
    this.#expected.push(problem)
  }

  /** Returns the problems since the last call that were not expected. */
  take(): string[] {
    const found = this.#found
      .map(({ problem }) => problem)
      .filter((problem) => !this.#expected.some((one) => one.test(problem)))
    this.#found = []
    this.#expected = []
    return [...new Set(found)]
  }

  #add(problem: string, context: BrowserContext): void {
    this.#found.push({ problem, context })
  }

  /** Forgets the problems of a profile so far. */
  forget(context: BrowserContext): void {
    this.#found = this.#found.filter((one) => one.context !== context)
  }

  async watch(context: BrowserContext): Promise<void> {
    await context.exposeBinding(REPORT, ({ page }, text: string) =>
      this.#add(`policy on ${page.url()}: ${text}`, context),
    )
    await context.addInitScript(reportViolations, REPORT)
    context.on('page', (page) => this.#watchPage(page))
    context.on('request', (request) => this.#checkHost(request, context))
    context.on('requestfailed', (request) => this.#addFailed(request, context))
    context.on('response', (response) => this.#addRefused(response, context))
  }

  #watchPage(page: Page): void {
    page.on('pageerror', (error) =>
      this.#add(`error on ${page.url()}: ${error.stack ?? error.message}`, page.context()),
    )
    page.on('console', (message) => {
      if (message.type() === 'error' && !FAILED_RESPONSE.test(message.text()))
        this.#add(`console on ${page.url()}: ${message.text()}`, page.context())
    })
    page.on('dialog', (dialog) => {
      this.#add(`dialog on ${page.url()}: ${dialog.type()} ${dialog.message()}`, page.context())
      void dialog.dismiss().catch(() => {})
    })
    page.on('crash', () => this.#add(`crash on ${page.url()}`, page.context()))
  }

  #checkHost(request: Request, context: BrowserContext): void {
    const { origin, protocol } = new URL(request.url())
    if (!['data:', 'blob:', 'about:'].includes(protocol) && origin !== this.#origin)
      this.#add(`request to another host: ${request.url()}`, context)
  }

  #addFailed(request: Request, context: BrowserContext): void {
    const reason = request.failure()?.errorText ?? 'failed'
    if (reason !== ABORTED && reason !== DROPPED)
      this.#add(`request: ${request.method()} ${request.url()}: ${reason}`, context)
  }

  #addRefused(response: Response, context: BrowserContext): void {
    const { pathname } = new URL(response.url())
    const method = response.request().method()
    // The login page asks who is logged in.
    if (response.status() === 401 && method === 'GET' && pathname === '/api/session') return
    if (response.status() >= 400) this.#add(`response: ${method} ${pathname}: ${response.status()}`, context)
  }
}
