import { mkdtempSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { asSuperuser } from '@scanfarm/store/testing'
import type { ConsoleMessage, FrameLocator } from 'playwright-core'
import { BUSY_MS, type Page, useConsole } from './harness.ts'
import { ATTACKS, BLOCKED_LOADS, hostilePage, LOADS } from './hostile-page.ts'
import { openOtherHost, type OtherHost } from './other-host.ts'
import { MARK, PAYLOADS } from './payloads.ts'
import { eachView, NARROW, resize, screenPaths, settle, visit, WIDE } from './screens.ts'

const ALL = PAYLOADS.join('\n')
const FILE_NAME = '<img data-pwned src=x onerror=window.__pwned=1>'

/** Everything that a workflow may name freely. */
const HOSTILE = `
kind: module
name: hostile
description: ${JSON.stringify(ALL)}
tags: ${JSON.stringify(PAYLOADS.slice(0, 20))}
params:
  - {name: folder, required: true, description: ${JSON.stringify(ALL)}}
  - {name: word, description: ${JSON.stringify(PAYLOADS[3])}, default: ${JSON.stringify(PAYLOADS[13])}}
steps:
  - name: show
    type: bash
    command: |
      # ${JSON.stringify(PAYLOADS[0])}
      mkdir -p {{Output}}
      cat {{folder}}/payloads
      cp {{folder}}/payloads {{Output}}/report.html
      cp {{folder}}/payloads {{Output}}/report.svg
      cp {{folder}}/payloads {{Output}}/report.txt
      cp {{folder}}/attack.html {{Output}}/attack.html
reports:
  - {name: attack, path: '{{Output}}/attack.html', type: html}
  - {name: page, path: '{{Output}}/report.html', type: html}
  - {name: picture.svg, path: '{{Output}}/report.svg', type: svg}
  - {name: text, path: '{{Output}}/report.txt', type: text}
`

const CLOUD_MESSAGE = `refused ${PAYLOADS[13]}`
const folder = mkdtempSync(join(tmpdir(), 'scanfarm-hostile-'))
const settingsFile = join(folder, 'scanfarm.yaml')
/** JSON is YAML. */
const settingsWith = (other: string): Record<string, unknown> => ({
  'http.cors_origins': PAYLOADS,
  'cloud.enabled': true,
  'cloud.setup': PAYLOADS,
  'cloud.regions': [`digitalocean=${PAYLOADS[0]}`],
  'cloud.endpoints': [`digitalocean=${other}`],
})

let other: OtherHost
beforeAll(async () => {
  other = await openOtherHost(CLOUD_MESSAGE)
  await writeFile(settingsFile, JSON.stringify(settingsWith(other.url)))
})
afterAll(async () => {
  await other[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

const SLOTS = 4
const farm = useConsole({
  slots: SLOTS,
  modules: { hostile: HOSTILE },
  env: { SCANFARM_CONFIG: settingsFile, SCANFARM_CLOUD_CREDENTIALS: 'digitalocean=dop_v1_test' },
})
/** Paths that must show a payload. */
let details: readonly string[] = []
let runIds: readonly string[] = []

const INFRA = '1'.padStart(16, '0')

/** Rows as a scan, a worker or another program would have stored them. `p` is a payload, `n` its number, `$2` all of them. */
const STATEMENTS: readonly string[] = [
  `update runs r set target = p, error_message = p
   from payloads join (select id, row_number() over (order by id) n from runs where workflow_name = 'hello') o using (n)
   where r.id = o.id`,
  `update runs set target = $2, error_message = $2 where workflow_name in ('hostile', 'endless')`,
  `update runs set workflow_name = $2 where workflow_name = 'hello'`,
  `update jobs set workflow_name = $2, params = jsonb_build_object($2::text, $2::text), trigger_name = $2
   where workflow_name = 'hello'`,
  `insert into steps select run_id, attempt, seq + n, gen_random_uuid(), p, type, p, status, p, p, p,
     jsonb_build_object(p, p), exit_code, duration_ms, '', started_at, completed_at, created_at
   from steps, payloads where name = 'show'`,
  `insert into artifacts select run_id, attempt, gen_random_uuid(), p, p, type, content_type, size_bytes, line_count, p,
     store_key, sha256, created_at
   from artifacts, payloads where name = 'page'`,
  `update vulnerabilities v set workspace = p, vuln_info = p, vuln_title = p, vuln_desc = p, vuln_poc = p,
     asset_type = p, asset_value = p, scan_tags = array[p], detail_http_request = p, detail_http_response = p,
     raw_vuln_json = p, source = p
   from payloads where v.vuln_info = 'check-' || n`,
  `update vulnerabilities set vuln_info = $2, vuln_title = $2, vuln_desc = $2, vuln_poc = $2, asset_type = $2,
     asset_value = $2, scan_tags = array[$2], detail_http_request = $2, detail_http_response = $2, raw_vuln_json = $2
   where vuln_info = 'check-all'`,
  `insert into finding_changes (vulnerability_id, changes, changed_by)
   select id, jsonb_build_object('tags', jsonb_build_object('from', array[p], 'to', array[p])), p
   from vulnerabilities, payloads where vuln_info = $2`,
  `insert into assets (workspace, asset_type, asset_value, url, host_ip, scheme, status_code, title, content_type,
     technologies, open_ports, dns_records, remarks, raw_json_data, asset_hash, source)
   select 'hostile', p, p, p, p, p, 200, p, p, array[p], array[p], array[p], array[p], p, sha256(p::bytea), p
   from (select n, replace(p, '\\', '/') p from payloads) _`,
  `insert into event_logs (topic, event_id, name, source, data_type, data, workspace, run_id, workflow_name, processed)
   select p, 'evt_' || n, p, p, p, json_build_object('payload', p)::text, p, '', p, false from payloads`,
  `insert into past_workers (id, name, hostname, pid, version) select 'past-' || n, p, p, 1, p from payloads`,
  `insert into workers (id, name, hostname, pid, version, kind, slots, capabilities, lease_ms, lease_until)
   select 'worker-' || n, p, p, 1, p, 'worker', 1, array[p], 3600000, now() + interval '1 hour' from payloads`,
  `insert into schedules (id, name, workflow_name, workflow_kind, target, workspace, params, trigger_type, schedule,
     event_topic, watch_path, spec, is_enabled)
   select 'sch-' || n, p, 'hello', 'module', p, p, jsonb_build_object(p, p), 'cron', '0 3 * * *', '', '', '{}', false
   from payloads`,
  `insert into webhook_subscriptions (name, url, topics, filters, format, secret, enabled)
   select p, p, array[p], array[p], 'json', '', false from payloads`,
  `insert into webhook_deliveries (subscription_id, event_no, event_id, topic, status, last_error, last_answer)
   select s.id, 1, 'evt_' || n, p, 'dead', p, p from webhook_subscriptions s join payloads on s.name = p`,
  `insert into incoming_webhooks (name, secret) select p, '' from payloads`,
  `insert into api_tokens (name, role, hash) select p, 'viewer', 'hash-' || n from payloads`,
  `insert into users (username, role, password_hash) select p, 'viewer', '' from payloads`,
  `insert into saved_filters (owner, owner_name, screen, name, query, shared)
   select 'user:0', p, screen, p, p, true from payloads, unnest(array['findings', 'runs', 'assets', 'jobs']) screen`,
  `insert into orgs (uuid, name, description, tags) select gen_random_uuid(), p, p, array[p] from payloads
   on conflict do nothing`,
  `insert into cloud_infras (infra_id, provider, region, instance_type, use_spot, auto_destroy, instances, tools, hours,
     expires_at, status, message, closed_at)
   select lpad(n::text, 16, '0'), p, p, p, false, true, 1, array[p], 1, now() + interval '1 hour', 'failed', p, now()
   from payloads`,
  `insert into cloud_instances (infra_no, name, status, resource_id, address, message)
   select (select id from cloud_infras where infra_id = '${INFRA}'), p, 'failed', p, p, p from payloads`,
  `insert into farm_series (minute, kind, label, count)
   select date_trunc('minute', now()), kind, left($2, length), 1000 + length
   from unnest(array['workflow', 'workflow_failed']) kind, unnest(array[300, 2000]) length`,
  `insert into finding_rules (name, position, asset_glob, severities, reason, assignee, tags, created_by)
   select p, n, p, array['low'], p, p, array[p], p from payloads on conflict do nothing`,
  `insert into scan_scopes (name, allowed, denied, owner, note, windows, zone, created_by)
   select p, '{*}', array[p], p, p, '[]', 'UTC', p from payloads on conflict do nothing`,
  `insert into never_scan (entry, reason, workflow, created_by)
   select 'n' || n || '.test', p, p, p from payloads`,
  `insert into refusals (job_no, place, target, reason)
   select (select min(id) from jobs where workflow_name = 'hostile'), 'submit', p, p from payloads`,
  `update jobs set refused = 1 where workflow_name = 'hostile'`,
  `update jobs set requirement_class = 'tool:' || $2 where workflow_name = 'endless'`,
]

beforeAll(async () => {
  const { api } = farm()
  const files = await farm().farm.traces()
  await writeFile(join(files, 'payloads'), ALL)
  await writeFile(join(files, 'attack.html'), hostilePage(other.url))
  await writeFile(
    join(farm().farm.folder, 'workflows/modules', `${FILE_NAME}.yaml`),
    'kind: module\nsteps: 3\n',
  )
  await farm().addModules({})
  const [job, list] = await Promise.all([
    farm().finish('hostile', ['hostile.test'], { folder: files }),
    farm().finish(
      'hello',
      PAYLOADS.map((_, index) => `p-${index}.test`),
    ),
  ])
  const second = await farm().finish('hostile', ['hostile.test'], { folder: files })
  // Two of them wait for a slot.
  await farm().start(
    'endless',
    Array.from({ length: SLOTS + 2 }, (_, index) => `wait-${index}.test`),
  )
  const add = async (name: string): Promise<number> => {
    const body = { workspace: 'hostile', vuln_info: `check-${name}`, asset_value: `${name}.test` }
    return (await api.POST('/vulnerabilities', { body })).data.data.id
  }
  await Promise.all(PAYLOADS.map((_, index) => add(String(index + 1))))
  const finding = await add('all')
  await asSuperuser(async (client) => {
    await client.query("select set_config('scanfarm.history', 'on', false)")
    for (const statement of STATEMENTS) {
      const payloads = 'with payloads as (select * from unnest($1::text[]) with ordinality _ (p, n)) '
      const all = statement.includes('$2') ? [ALL] : []
      await client.query(payloads + statement, [PAYLOADS, ...all]).catch((error: unknown) => {
        throw new Error(`${String(error)} in ${statement}`)
      })
    }
  }, farm().farm.postgres.url)
  const runsOf = async (id: string): Promise<string[]> => {
    const { data } = await api.GET('/runs', { params: { query: { job_id: id } } })
    return data.data.map(({ run_uuid }) => run_uuid)
  }
  runIds = [...(await runsOf(job)), ...(await runsOf(second))]
  const [first = '', later = ''] = runIds
  // The server has not read this yet: the settings screen shows that it could not start again.
  await writeFile(settingsFile, JSON.stringify({ ...settingsWith(other.url), [ALL]: 1 }))
  details = [
    `/jobs/${job}`,
    `/jobs/${list}`,
    `/runs/${first}`,
    `/findings/${finding}`,
    '/workflows/hostile',
    '/workers/worker-1',
    `/cloud?infra=${INFRA}`,
    '/changes?workspace=hostile&from=24h',
    `/changes?a=${first}&b=${later}`,
  ]
})

/** Returns everything that the payloads have changed; scrolls all tables through, or looks at their beginning. */
const damage = async (page: Page, { scrolls = true } = {}): Promise<string[]> =>
  await page.evaluate(async (through) => {
    const found = new Set<string>()
    const executable = (address: string): boolean => {
      const { protocol } = new URL(address, window.location.href)
      return !/^(https?|blob|about):$/.test(protocol) && !address.startsWith('data:image/')
    }
    const look = (): void => {
      if ('__pwned' in window) found.add('a payload was executed')
      if ('polluted' in {}) found.add('a prototype was changed')
      for (const element of document.querySelectorAll('[data-pwned], base, meta[http-equiv], object, embed'))
        found.add(`element: ${element.outerHTML.slice(0, 200)}`)
      for (const element of document.querySelectorAll('a[href], iframe[src], img[src], form[action]')) {
        const address = element.getAttribute('href') ?? element.getAttribute('src') ?? ''
        if (executable(address)) found.add(`address: ${address.slice(0, 200)}`)
        const leaves = new URL(address, window.location.href).origin !== window.location.origin
        if (leaves && element instanceof HTMLAnchorElement && !element.relList.contains('noreferrer'))
          found.add(`link without rel=noreferrer: ${address.slice(0, 200)}`)
      }
      const { scrollWidth, clientWidth } = document.documentElement
      if (scrollWidth > clientWidth + 1)
        found.add(`the page is ${scrollWidth} wide in a window of ${clientWidth}`)
      if (getComputedStyle(document.body).display === 'none') found.add('the page is hidden')
    }
    look()
    for (const table of through ? document.querySelectorAll('.table-scroll') : []) {
      table.scrollTop = 0
      while (table.scrollTop + table.clientHeight + 1 < table.scrollHeight) {
        const before = table.scrollTop
        table.scrollTop += table.clientHeight
        await new Promise(requestAnimationFrame)
        await new Promise(requestAnimationFrame)
        look()
        if (table.scrollTop === before) break
      }
    }
    return [...found]
  }, scrolls)

test(
  'Hostile texts stay texts on every screen, and every screen shows them',
  async () => {
    const page = await farm().open('/')
    await settle(page)
    const found: Record<string, string[]> = {}
    const without: string[] = []
    // Without a comparison, this screen has only a form: `details` has two.
    const screens = (await screenPaths(page)).filter((path) => path !== '/changes')
    for (const path of [...screens, ...details]) {
      let shown = false
      await eachView(page, path, async (view) => {
        for (const size of [NARROW, WIDE]) {
          await resize(page, size)
          // A table draws its rows when it has measured itself.
          shown ||= (await page.locator('main').innerText()).includes(MARK)
          // Rows have the same texts at each width.
          const here = [...(await damage(page, { scrolls: size === WIDE })), ...farm().problems.take()]
          if (here.length > 0) found[`${view} at ${size[0]} pixels`] = here
        }
      })
      if (!shown) without.push(path)
    }
    expect(found).toEqual({})
    expect(without).toEqual([])
  },
  BUSY_MS,
)

test('Screens of figures, changes, machines and settings show hostile texts in all places that have them', async () => {
  const [before = '', after = ''] = runIds
  const places: readonly (readonly [path: string, place: string])[] = [
    // A program that no worker has, and a workflow whose runs fail.
    ['/', '.attention li:has(.tone-bad)'],
    ['/', '.attention li:has(.tone-warn)'],
    ['/', '.card-table'],
    ['/', '[aria-labelledby="failing"]'],
    ['/changes?workspace=hostile&from=24h', '[role="tabpanel"] .table-scroll'],
    ['/changes?workspace=hostile&from=24h&kind=assets', '[role="tabpanel"] .table-scroll'],
    [`/changes?a=${before}&b=${after}`, 'main p'],
    ['/cloud', '.table-scroll'],
    ['/cloud?tab=providers', '.card-table'],
    [`/cloud?infra=${INFRA}`, 'main > * .tone-bad, main p.tone-bad'],
    [`/cloud?infra=${INFRA}`, '.table-scroll'],
    // What the file has now, and what the server has read from it.
    ['/settings', '[role="alert"]'],
    ['/settings', '.setting-value'],
    ['/settings?tab=yaml', 'pre'],
  ]
  const page = await farm().open('/')
  for (const [path, place] of places) {
    await visit(page, path)
    await page.locator(place).filter({ hasText: MARK }).first().waitFor()
    expect(await damage(page)).toEqual([])
  }
})

test('Hostile filters of an address stay texts', async () => {
  const text = encodeURIComponent(ALL.slice(0, 2_000))
  const page = await farm().open('/')
  await settle(page)
  for (const path of [
    `/runs?target=${text}`,
    `/findings?search=${text}&tab=${encodeURIComponent(FILE_NAME)}`,
    `/changes?workspace=${text}&from=24h`,
    `/changes?a=${text}&b=${text}`,
    `/cloud?infra=${text}`,
    `/settings?q=${text}`,
  ]) {
    await eachView(page, path, async () => {
      // The API refuses most of them.
      farm().problems.expect(/: 40[04]$/)
      expect([...(await damage(page)), ...farm().problems.take()]).toEqual([])
    })
  }
})

test('Hostile events that arrive live stay texts', async () => {
  const page = await farm().open('/events')
  await settle(page)
  for (const payload of PAYLOADS.slice(0, 10))
    await farm().api.POST('/events/emit', {
      body: {
        topic: 'custom.hostile',
        name: payload.slice(0, 200),
        data: { payload, 'live one': 1, [payload]: ALL },
      },
    })
  await page.getByRole('button', { name: /new/ }).click()
  await page.getByText('custom.hostile').first().waitFor()
  expect(await damage(page)).toEqual([])
})

const artifactNamed = async (wanted: string): Promise<string> => {
  const { data } = await farm().api.GET('/runs/{id}/artifacts', { params: { path: { id: runIds[0] ?? '' } } })
  const artifact = data.data.find(({ name }) => name === wanted)
  if (artifact === undefined) throw new Error(`the run has no artifact ${wanted}`)
  return artifact.id
}

/** Opens the preview of an artifact in the console. */
const openPreview = async (page: Page, name: string): Promise<FrameLocator> => {
  await page.goto(`/runs/${runIds[0]}?tab=artifacts&artifact=${await artifactNamed(name)}`)
  return page.frameLocator('.preview-frame')
}

test('Artifacts that a browser would execute have a policy that forbids it', async () => {
  const page = await farm().open('/')
  for (const name of ['attack', 'page', 'picture.svg', 'text'])
    for (const view of ['', '?view=frame']) {
      const path = `/api/runs/${runIds[0]}/artifacts/${await artifactNamed(name)}/content${view}`
      const { 'content-security-policy': policy = '', 'x-content-type-options': sniffing } = (
        await page.request.get(path)
      ).headers()
      expect(policy).toMatch(/(^|; ?)sandbox(;|$)/)
      expect(sniffing).toBe('nosniff')
    }
})

test('Artifacts of payloads change nothing when their preview is opened', async () => {
  const page = await farm().open('/')
  for (const name of ['page', 'picture.svg']) {
    // What the frame has blocked is reported as an error of the page.
    farm().problems.expect(/^console on .*: (?!Uncaught)|^request/)
    const frame = await openPreview(page, name)
    await frame.locator(':root').click()
    expect([...(await damage(page)), ...farm().problems.take()]).toEqual([])
  }
})

for (const guard of ['frame of the console', 'policy of the artifact alone'])
  test(`An HTML artifact can do nothing to the console or other hosts: ${guard}`, async () => {
    const page = await farm().open('/')
    const reports: string[] = []
    page.on('console', (message) => reports.push(message.text()))
    const downloads: string[] = []
    page.on('download', (download) => downloads.push(download.url()))
    const { problems } = farm()
    for (const blocked of BLOCKED_LOADS) problems.expect(blocked)
    for (const { blocked } of ATTACKS) if (blocked) problems.expect(blocked)
    // Chromium reports requests that a policy has blocked.
    problems.expect(/^request/)
    problems.expect(/^policy on .*: frame-src blocked http:\/\/localhost/)

    const frame = await openPreview(page, 'attack')
    const heading = frame.getByRole('heading', { name: 'A hostile report' })
    await heading.waitFor()
    const address = page.url()
    /** Opens the page again. */
    const reload = async (): Promise<void> => {
      const loaded = page.waitForEvent('framenavigated', (to) => to.url().includes('view=frame'))
      await page.locator('.preview-frame').evaluate((element: HTMLIFrameElement, sandboxed) => {
        if (!sandboxed) element.removeAttribute('sandbox')
        element.src = String(element.src)
      }, guard === 'frame of the console')
      await loaded
      await heading.waitFor()
    }
    await reload()
    for (const { name, blocked, quiet, leaves } of ATTACKS) {
      const isReport = (message: ConsoleMessage): boolean => blocked?.test(message.text()) === true
      const report = blocked && !quiet && page.waitForEvent('console', isReport)
      await frame.getByText(name, { exact: true }).click()
      await report
      if (leaves) await reload()
    }
    expect(BLOCKED_LOADS.filter((blocked) => !reports.some((report) => blocked.test(report)))).toEqual([])
    expect(await damage(page)).toEqual([])
    expect(page.url()).toBe(address)
    expect(page.context().pages()).toHaveLength(1)
    expect(downloads).toEqual([])
    expect(other.requests).toEqual([])
  })

test('Without a policy, each attack of that artifact succeeds', async () => {
  await using control = await openOtherHost('')
  control.pages.set('/all', hostilePage(control.url))
  control.pages.set('/clicks', hostilePage(control.url, false))
  const page = await (await farm().browser.newContext()).newPage()
  await page.goto(`${control.url}/all`)
  for (const load of LOADS) await control.requested(`/${load}`)
  await page.waitForURL('**/refresh')
  for (const { name } of ATTACKS) {
    await page.goto(`${control.url}/clicks`)
    await page.evaluate(() => Reflect.deleteProperty(window, '__pwned'))
    const download = name === 'data' ? page.waitForEvent('download') : undefined
    await page.getByText(name, { exact: true }).click()
    if (download) await download
    else if (name === 'handler' || name === 'javascript')
      await page.waitForFunction(() => '__pwned' in window)
    else await control.requested(name === 'api' ? '/api/session/links' : `/${name}`)
  }
})
