import type { Console, Page } from './harness.ts'

/** Waits until the screen shows its data. */
export const settle = async (page: Page): Promise<void> => {
  await page.locator('h1:not([data-left])').first().waitFor()
  await page.waitForFunction(() => document.querySelector('.skeleton, [aria-busy="true"]') === null)
}

export type Size = readonly [width: number, height: number]
export const WIDE: Size = [1440, 900]
export const NARROW: Size = [375, 812]
/** Narrower windows have no navigation at the side. */
const NAVIGATION_PX = 761

/** Changes the size of the window, and waits until the screen has the layout for it. */
export const resize = async (page: Page, [width, height]: Size): Promise<void> => {
  await page.setViewportSize({ width, height })
  // The login page has no navigation.
  if ((await page.locator('.shell').count()) > 0)
    await page.locator('.shell > .side').waitFor({ state: width < NAVIGATION_PX ? 'hidden' : 'visible' })
  // Tables and charts measure themselves in the first frame, and draw in the second.
  await page.evaluate(async () => {
    await new Promise(requestAnimationFrame)
    await new Promise(requestAnimationFrame)
  })
}

/** Paths of the screens in the navigation, which narrow windows hide. */
export const screenPaths = async (page: Page): Promise<string[]> => {
  const links = page.locator('nav[aria-label="Screens"] a')
  await links.first().waitFor({ state: 'attached' })
  return await links.evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''))
}

/** To another screen as a link does: without loading the console again. */
export const visit = async (page: Page, path: string): Promise<void> => {
  const { pathname, search } = new URL(page.url())
  if (pathname + search === path) return await settle(page)
  // A screen that stays keeps its heading, from which `settle` cannot see that it has changed.
  if (pathname === path.split('?')[0]) await visit(page, pathname === '/' ? '/jobs' : '/')
  await page.evaluate((to) => {
    // The heading of the screen that is left stays until the code of the next one has arrived.
    for (const heading of document.querySelectorAll('h1')) heading.dataset['left'] = ''
    window.history.pushState(null, '', to)
  }, path)
  await settle(page)
}

/** Shows a screen, then each of its tabs, and calls `look` on each. */
export const eachView = async (
  page: Page,
  path: string,
  look: (view: string) => Promise<void>,
): Promise<void> => {
  await visit(page, path)
  await look(path)
  const tabs = page.locator('main').getByRole('tab')
  const count = await tabs.count()
  for (let at = 1; at < count; at++) {
    const tab = tabs.nth(at)
    const name = (await tab.textContent()) ?? ''
    await tab.click()
    await settle(page)
    await look(`${path} (${name})`)
  }
}

/** Something in every list, and the paths of one thing of each kind. */
export const populate = async (console: Console): Promise<string[]> => {
  const { api } = console
  await api.POST('/scopes', {
    body: {
      name: 'shop',
      allowed: ['*.shop.test', '10.0.0.0/8'],
      denied: ['pay.shop.test'],
      owner: 'ada',
      windows: [{ days: ['mon', 'tue'], from: '22:00', to: '06:00' }],
      workspaces: ['shop'],
    },
  })
  await api.POST('/never-scan', { body: { entry: 'hospital.test', reason: 'asked to be left alone' } })
  const job = await console.finish('survey', ['one.test', 'two.test', 'three.test', 'hospital.test'])
  await console.finish('broken', ['down.test', 'gone.test'])
  await console.start('endless', ['endless.test'])
  const findings = ['critical', 'high', 'medium', 'low', 'info'] as const
  const made = await Promise.all(
    findings.map((severity) =>
      api.POST('/vulnerabilities', {
        body: {
          workspace: 'one.test',
          vuln_info: `check-${severity}`,
          vuln_title: `A finding of severity ${severity}`,
          vuln_desc: 'The server accepts TLS 1.0.',
          vuln_poc: 'openssl s_client -tls1 -connect one.test:443',
          severity,
          asset_type: 'url',
          asset_value: 'https://one.test',
          tags: ['tls', 'reviewed'],
          detail_http_request: 'GET / HTTP/1.1\r\nHost: one.test',
          detail_http_response: 'HTTP/1.1 200 OK',
        },
      }),
    ),
  )
  await api.POST('/finding-rules', {
    body: { name: 'Lab', match: { check: 'check-info' }, set: { verdict: 'accepted', reason: 'a lab' } },
  })
  await api.POST('/events/emit', {
    body: { topic: 'custom.build', data: { host: 'one.test', tags: ['a', 'b'] } },
  })
  await api.POST('/incoming-webhooks', { body: { name: 'builds' } })
  await api.POST('/webhook-subscriptions', {
    body: { name: 'chat', url: `${console.url}/api/no-such-webhook`, topics: ['run.*'] },
  })
  const { data: schedule } = await api.POST('/schedules', {
    body: {
      name: 'nightly',
      workflow_name: 'hello',
      workflow_kind: 'module',
      trigger_type: 'cron',
      schedule: '0 3 * * *',
      input: { target: 'one.test' },
    },
  })
  const { data: night } = await api.POST('/schedules/{id}/trigger', {
    params: { path: { id: schedule.data.id } },
  })
  await api.waitForJob(night.job_id)
  await api.POST('/users', { body: { username: 'grace', password: 'a long password', role: 'operator' } })
  await api.POST('/saved-filters', {
    body: { screen: 'findings', name: 'Serious', query: 'severity=critical' },
  })
  const { data: jobRuns } = await api.GET('/runs', { params: { query: { job_id: job } } })
  const { data: workers } = await api.GET('/workers')
  return [
    `/jobs/${job}`,
    ...jobRuns.data.slice(0, 1).map(({ run_uuid }) => `/runs/${run_uuid}`),
    ...made.slice(0, 1).map(({ data }) => `/findings/${data.data.id}`),
    '/findings?group=check',
    '/hosts/one.test',
    '/workflows/survey',
    ...workers.data.slice(0, 1).map(({ id }) => `/workers/${id}`),
  ]
}

/** Writes output with colours, and stores assets and artifacts. */
export const SURVEY = `
kind: module
name: survey
description: Looks at a target
tags: [survey, quick]
params:
  - {name: ports, description: Ports to look at, default: '80,443'}
  - {name: depth, type: int, min: 1, max: 3, default: 1}
steps:
  - name: look
    type: bash
    command: |
      mkdir -p {{Output}}
      printf '\\033[31mred\\033[0m and \\033[1;32mgreen\\033[0m on {{Target}}\\n'
      echo '{"ports": [80, 443]}' > {{Output}}/ports.json
      echo '<h1>A report</h1><p style="color: red">of {{Target}}</p>' > {{Output}}/report.html
  - name: record
    type: function
    functions:
      - db_quick_import_asset("", "https://{{Target}}", "url")
      - db_quick_import_asset("", "{{Target}}:443", "port")
reports:
  - {name: report, path: '{{Output}}/report.html', type: html}
  - {name: ports, path: '{{Output}}/ports.json', type: json}
`
