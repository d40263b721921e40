import { chromium, type Browser, type BrowserContext, type BrowserContextOptions } from 'playwright-core'

/** Of a program on this machine. */
export const openChromium = async (executablePath: string): Promise<Browser> =>
  // Root cannot use the sandbox of Chromium.
  await chromium.launch({ executablePath, chromiumSandbox: process.getuid?.() !== 0 })

/** A profile that a login link has logged in. */
export const logInWith = async (
  browser: Browser,
  link: string,
  options: BrowserContextOptions = {},
): Promise<BrowserContext> => {
  const context = await browser.newContext({ baseURL: new URL(link).origin, ...options })
  const page = await context.newPage()
  await page.goto(link)
  await page.waitForURL(({ pathname }) => pathname !== '/login')
  await page.close()
  return context
}
