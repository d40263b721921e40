import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { isPublic } from '@scanfarm/functions'
import { Secret, silentLogger } from '@scanfarm/platform'
import type { SubscriptionDraft } from '@scanfarm/store'
import { asSuperuser, draft, eventDraft } from '@scanfarm/store/testing'
import { SMTPServer } from 'smtp-server'
import { listen, until } from '@scanfarm/testing'
import type { Config } from '../../src/settings.ts'
import { bodyOf, mailOf } from '../../src/webhooks/delivery-body.ts'
import { exampleEvent } from '../../src/webhooks/example-event.ts'
import { signatureOf } from '../../src/webhooks/signature.ts'
import { MAX_ATTEMPTS, sendOptions, WebhookSender } from '../../src/webhooks/webhook-sender.ts'
import { NEVER, openTriggerHarness, type TriggerHarness } from '../triggers/_trigger-harness.ts'

interface Request {
  readonly path?: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

let harness: TriggerHarness
let listener: Server
let url = ''
let answer = 200
let retryAfter = ''
/** What an answer waits for. */
let hold: (path: string) => Promise<void>
let answered = 0
const requests: Request[] = []

beforeAll(async () => {
  harness = await openTriggerHarness({})
  listener = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      requests.push({ path: request.url ?? '', headers: request.headers, body })
      void hold(request.url ?? '').then(() => {
        if (retryAfter !== '') response.setHeader('Retry-After', retryAfter)
        response.writeHead(answer, { Location: 'http://127.0.0.1/elsewhere' }).end('x', () => (answered += 1))
      })
    })
  })
  url = `http://127.0.0.1:${await listen(listener)}/hook`
})
afterAll(async () => {
  listener.close()
  await harness[Symbol.asyncDispose]()
})
beforeEach(async () => {
  await harness.sql('truncate webhook_subscriptions cascade')
  requests.length = 0
  answer = 200
  retryAfter = ''
  hold = async () => undefined
  answered = 0
})

const SECRET = 'a-secret-of-some-length'
const subscribe = (changes: Partial<SubscriptionDraft> = {}) =>
  harness.store.webhooks.subscribe({
    name: 'listener',
    url,
    topics: ['custom.*'],
    filters: [],
    format: 'json',
    min_severity: '',
    template: '',
    report: false,
    secret: SECRET,
    enabled: true,
    ...changes,
  })
const http = { publicUrl: '' } as Config['http']
type Due = TriggerHarness['store']['webhooks']['due']
const senderOf = async (
  allowPrivate = true,
  mailUrl?: Secret,
  leaseMs = 30_000,
  dueOf = (due: Due): Due => due,
): Promise<WebhookSender> => {
  const receiver = await harness.master()
  const { store } = receiver
  const { webhooks, feed } = store
  const config = { webhooks: { allowPrivate }, http, mail: { url: mailUrl } }
  return new WebhookSender({
    webhooks: { ...webhooks, due: dueOf(webhooks.due) },
    feed,
    receiver,
    options: sendOptions({ config, receiver, store }),
    log: silentLogger,
    leaseMs,
  })
}
const record = (topic: string, data: object = {}) => harness.store.triggers.record(eventDraft(topic, data))
const deliveries = async () => (await harness.store.webhooks.deliveries({}, { offset: 0, limit: 50 })).data
/** Events are read once no older transaction is open, those of other databases on the server included. */
const fanOut = (senders: readonly WebhookSender[]) =>
  until(async () => {
    await Promise.all(senders.map((sender) => sender.fanOutOnce(NEVER)))
    return (await deliveries()).length > 0
  })
const expirePauses = () => harness.sql('update webhook_deliveries set next_at = now()')

describe('webhooks', () => {
  test('a delivery is sent once for each event that matches a subscription, and is signed', async () => {
    await record('custom.before')
    await subscribe({ filters: ['event.data.level > 3'] })
    await record('custom.low', { level: 1 })
    await record('custom.high', { level: 9, text: `it's "quoted"` })
    await record('other.high', { level: 9 })
    const senders = await Promise.all([senderOf(), senderOf()])
    await fanOut(senders)
    await Promise.all(senders.map((sender) => sender.deliverOnce(NEVER)))
    await senders[0].deliverOnce(NEVER)
    expect(requests).toHaveLength(1)
    const [{ headers, body } = { headers: {}, body: '' }] = requests
    const sent = JSON.parse(body) as { topic: string; data: string }
    const [logged] = (await harness.store.events.list({ topic: 'custom.high' }, { offset: 0, limit: 1 })).data
    expect(sent).toMatchObject({ topic: 'custom.high', data: logged?.data })
    expect(JSON.parse(sent.data)).toEqual({ level: 9, text: `it's "quoted"` })
    expect(headers['x-scanfarm-event']).toBe('custom.high')
    const timestamp = String(headers['x-scanfarm-timestamp'])
    expect(headers['x-scanfarm-signature']).toBe(signatureOf(SECRET, timestamp, body))
    expect(await deliveries()).toMatchObject([{ status: 'delivered', attempts: 1, last_status: 200 }])
  })

  test('a subscription with a least severity gets findings and ends of jobs that are at least so severe', async () => {
    await subscribe({ min_severity: 'high' })
    await record('custom.low', { severity: 'medium' })
    await record('custom.reminder', { open: { medium: 4 }, oldest_days: { medium: 90 } })
    await record('custom.night', { findings: { new: { low: 9 }, back: {}, gone: { critical: 2 } } })
    for (const [topic, data] of [
      ['custom.high', { severity: 'high' }],
      ['custom.back', { findings: { new: {}, back: { critical: 1 }, gone: {} } }],
      ['custom.other', { severity: 'loud' }],
    ] as const)
      await record(topic, data)
    const sender = await senderOf()
    const topics = await until(async () => {
      await sender.fanOutOnce(NEVER)
      const made = (await deliveries()).map(({ topic }) => topic)
      return made.includes('custom.other') ? made : undefined
    })
    expect(topics.toSorted()).toEqual(['custom.back', 'custom.high', 'custom.other'])
  })

  test('a mail has the text of its template, a stable id and the report of the job', async () => {
    const mails: string[] = []
    const smtp = new SMTPServer({
      disabledCommands: ['STARTTLS', 'AUTH'],
      onData: (stream, _, done) => {
        let text = ''
        stream.on('data', (chunk: Buffer) => (text += chunk.toString()))
        stream.on('end', () => {
          mails.push(text)
          done(mails.length === 1 ? new Error('later') : undefined)
        })
      },
    })
    const port = await listen(smtp)
    const submitted = await harness.store.jobs.submit(draft(), [{ target: 'a.test', workspace: 'a.test' }])
    const jobId = 'job' in submitted ? submitted.job.jobId : ''
    await harness.store.jobs.requestCancel(jobId)
    await harness.store.jobs.settle(0, 100)
    const template = '{{event_data.schedule}}: {{event_data.findings.new.high}} high\nSee {{event.topic}}.'
    const [url, topics] = ['mailto:ops@example.com', ['custom.night']]
    await subscribe({ url, topics, format: 'mail', template, report: true })
    const findings = { new: { high: 3 }, back: {}, gone: {} }
    await record('custom.night', { job_id: jobId, schedule: 'nightly', findings })
    const sender = await senderOf(true, new Secret(`smtp://127.0.0.1:${port}?from=farm@example.com`))
    await fanOut([sender])
    await sender.deliverOnce(NEVER)
    expect(await deliveries()).toMatchObject([
      { status: 'pending', last_error: expect.stringMatching(/later/) },
    ])
    await expirePauses()
    await sender.deliverOnce(NEVER)
    await new Promise<void>((resolve) => smtp.close(() => resolve()))
    expect(await deliveries()).toMatchObject([{ status: 'delivered', attempts: 2 }])
    const [first = '', second = ''] = mails
    expect(second).toContain('Subject: Scanfarm: nightly: 3 high')
    expect(second).toContain('\r\nSee custom.night.\r\n')
    expect(second).toContain(`filename=report-${jobId}.html`)
    const [, page = ''] = second.split(`filename=report-${jobId}.html`)[1]?.split('\r\n\r\n') ?? []
    const html = Buffer.from(page.split('\r\n--')[0] ?? '', 'base64').toString()
    expect(html).toContain('Report of nightly')
    const idOf = (mail: string) => /^Message-ID: <evt_\S+@example\.com>/im.exec(mail)?.[0]
    expect(idOf(first)).toBeDefined()
    expect(idOf(second)).toBe(idOf(first))
  })

  test('a failed delivery is retried with growing delays, given up, and sent again on request', async () => {
    await subscribe()
    const sender = await senderOf()
    await record('custom.retry')
    await fanOut([sender])
    answer = 500
    await sender.deliverOnce(NEVER)
    await sender.deliverOnce(NEVER)
    expect(await deliveries()).toMatchObject([
      {
        status: 'pending',
        attempts: 1,
        last_status: 500,
        last_error: 'the endpoint answered 500',
        last_answer: 'x',
        last_ms: expect.any(Number),
        last_attempt_at: expect.any(String),
      },
    ])
    for (let attempt = 2; attempt <= MAX_ATTEMPTS; attempt++) {
      await expirePauses()
      await sender.deliverOnce(NEVER)
    }
    const [dead] = await deliveries()
    expect(dead).toMatchObject({ status: 'dead', attempts: MAX_ATTEMPTS })
    answer = 204
    await harness.store.webhooks.redeliver(dead?.id ?? 0)
    await sender.deliverOnce(NEVER)
    expect(await deliveries()).toMatchObject([{ status: 'delivered', attempts: 1, last_status: 204 }])
    expect(requests).toHaveLength(MAX_ATTEMPTS + 1)
  })

  test.each([
    ['seconds', () => '1800'],
    ['a date', () => new Date(Date.now() + 1_800_000).toUTCString()],
  ])('an endpoint that asks for time in %s gets it', async (_form, header) => {
    await subscribe()
    const sender = await senderOf()
    await record('custom.busy')
    await fanOut([sender])
    ;[answer, retryAfter] = [429, header()]
    await sender.deliverOnce(NEVER)
    const [{ waits } = { waits: 0 }] = await harness.sql(
      'select extract(epoch from next_at - now())::int as waits from webhook_deliveries',
    )
    expect(waits).toBeGreaterThan(1_700)
    expect(waits).toBeLessThanOrEqual(1_800)
  })

  test('a receiver that hangs holds up at most four messages to it, and none to others', async () => {
    await subscribe({ url: `${url}/hung` })
    await subscribe()
    const hung = Promise.withResolvers<void>()
    hold = async (path) => (path.endsWith('/hung') ? await hung.promise : undefined)
    let ends = false
    const sender = await senderOf(true, undefined, 30_000, (due) => async (asked) => {
      const found = await due(asked)
      // All that hang arrive after the search for others has begun.
      if (ends) hung.resolve()
      const arrived = async () => (await deliveries()).filter(({ status }) => status === 'delivered')
      if (ends) await until(async () => (await arrived()).length >= 14)
      return found
    })
    const sent = async (events: number) => {
      await until(async () => {
        await sender.fanOutOnce(NEVER)
        return (await deliveries()).length === 2 * events
      })
      await until(() => requests.filter(({ path }) => path === '/hook').length === events)
    }
    for (let n = 0; n < 9; n++) await record(`custom.${n}`)
    await fanOut([sender])
    const turn = sender.deliverOnce(NEVER)
    await sent(9)
    await record('custom.later')
    await sent(10)
    expect(requests.filter(({ path }) => path === '/hook/hung')).toHaveLength(4)
    ends = true
    await turn
    expect((await deliveries()).map(({ status }) => status)).toEqual(
      Array.from({ length: 20 }, () => 'delivered'),
    )
  })

  test('a delivery does not follow redirects', async () => {
    await subscribe()
    const sender = await senderOf()
    await record('custom.redirect')
    await fanOut([sender])
    answer = 302
    await sender.deliverOnce(NEVER)
    expect(requests).toHaveLength(1)
    expect(await deliveries()).toMatchObject([{ status: 'pending', last_status: 302 }])
  })

  test.each([
    ['by number', (given: string) => given],
    ['by name', (given: string) => given.replace('127.0.0.1', 'localhost')],
    ['by another spelling', (given: string) => given.replace('127.0.0.1', '2130706433')],
  ])('a delivery is never sent to a private address given %s', async (_, spelled) => {
    await subscribe({ url: spelled(url) })
    const sender = await senderOf(false)
    await record('custom.inside')
    await fanOut([sender])
    await sender.deliverOnce(NEVER)
    expect(requests).toEqual([])
    expect(await deliveries()).toMatchObject([
      { status: 'pending', last_status: 0, last_error: expect.stringMatching(/ (is a|has the) private /) },
    ])
  })

  test.each([
    ['8.8.8.8', true],
    ['2606:4700::1111', true],
    ['10.1.2.3', false],
    ['100.64.0.1', false],
    ['127.9.9.9', false],
    ['169.254.169.254', false],
    ['172.31.0.1', false],
    ['192.168.1.1', false],
    ['0.0.0.0', false],
    ['255.255.255.255', false],
    ['::1', false],
    ['::', false],
    ['fe80::1', false],
    ['fd00::1', false],
    ['::ffff:127.0.0.1', false],
    ['64:ff9b::7f00:1', false],
    ['2002:7f00:1::', false],
    ['nonsense', false],
  ])('the address %s is public: %s', (address, wanted) => {
    expect(isPublic(address)).toBe(wanted)
  })

  test('deliveries to Slack and Discord escape markup in the data', () => {
    const event = {
      id: 1,
      topic: 'vuln.found',
      event_id: 'evt_1',
      name: 'vuln.found',
      source: 'executor',
      data_type: 'vulnerability',
      data: JSON.stringify({ severity: 'high', vuln_title: '<!channel> @everyone *x*' }),
      workspace: 'w',
      run_id: '',
      workflow_name: 'probe',
      processed: true,
      processed_at: null,
      error: '',
      created_at: '2026-01-01T00:00:00.000Z',
    }
    expect(JSON.parse(bodyOf(event, 'slack'))).toEqual({
      text: 'vuln.found | severity: high, vuln_title: &lt;!channel&gt; @everyone *x*',
      unfurl_links: false,
      unfurl_media: false,
    })
    expect(JSON.parse(bodyOf(event, 'discord'))).toEqual({
      content: 'vuln.found \\| severity: high, vuln\\_title: \\<!channel\\> @everyone \\*x\\*',
      allowed_mentions: { parse: [] },
      flags: 4,
    })
  })

  test('a long text is cut where neither a URL nor an escaped character is, and each service takes it', () => {
    const event = exampleEvent()
    const contentOf = (text: string): string =>
      (JSON.parse(bodyOf(event, 'discord', '', text)) as { content: string }).content
    expect(contentOf('See https://scan-farm.example/a_b?c=(1)#d-e (new)')).toBe(
      'See https://scan-farm.example/a_b?c=(1)#d-e \\(new\\)',
    )
    for (const text of [
      '*'.repeat(9_000),
      'x'.repeat(1_990) + '😀'.repeat(9),
      `${'x'.repeat(1_990)}https://farm.example`,
    ]) {
      const content = contentOf(text)
      expect(content.length).toBeLessThanOrEqual(2_000)
      expect(content).toMatch(/^(?:\\\*|x|😀)+…$/u)
    }
    expect(bodyOf(event, 'slack', '', '&'.repeat(9_000))).toMatch(/"(?:&amp;)+…"/)
    for (const letter of ['\u0001', '漢', '_', '😀', '\ud800'])
      expect(Buffer.byteLength(bodyOf(event, 'teams', '', letter.repeat(20_000)))).toBeLessThan(28 * 1024)
  })

  test('the digest of an hour arrives once at each service, in its form', async () => {
    for (const format of ['json', 'slack', 'discord', 'teams'] as const)
      await subscribe({ name: format, format, url: `${url}/${format}`, topics: ['findings.digest'] })
    await harness.store.triggers.record({
      ...eventDraft('job.ended', {
        runs: { total: 3, clean: 2, partial: 1 },
        findings: { new: { high: 2 }, back: {}, gone: { low: 1 } },
      }),
      source: 'executor',
    })
    await harness.sql(`
      update event_logs set created_at = now() - interval '2 hours' where topic = 'job.ended';
      update farm set digest_until = date_trunc('hour', now()) - interval '4 hours', reminded_at = now()`)
    const senders = await Promise.all([senderOf(), senderOf()])
    await Promise.all(senders.map(() => harness.store.nights.logDigests()))
    await fanOut(senders)
    await Promise.all(senders.map((sender) => sender.deliverOnce(NEVER)))
    const bodies = new Map(requests.map(({ path, body }) => [path, JSON.parse(body) as object]))
    expect(requests).toHaveLength(4)
    const text = expect.stringMatching(
      /^(the job|\d jobs) of \d\d:\d\d to \d\d:\d\d UTC ended: 2 new (\\?)\(2 high\2\), 0 back, 1 gone/,
    )
    expect(bodies.get('/hook/json')).toMatchObject({ topic: 'findings.digest', source: 'scheduler' })
    expect(bodies.get('/hook/slack')).toMatchObject({ text })
    expect(bodies.get('/hook/discord')).toMatchObject({ content: text })
    expect(bodies.get('/hook/teams')).toMatchObject({ attachments: [{ content: { body: [{ text }] } }] })
  })

  test('a master that stops while it sends, or loses its database, records what has arrived', async () => {
    await subscribe()
    const sender = await senderOf()
    await record('custom.last')
    await fanOut([sender])
    const stop = new AbortController()
    const arrived = Promise.withResolvers<void>()
    hold = () => {
      stop.abort()
      arrived.resolve()
      return withoutDatabase.promise
    }
    const withoutDatabase = Promise.withResolvers<void>()
    const turn = sender.deliverOnce(stop.signal)
    await arrived.promise
    const { pathname } = new URL(harness.url)
    const database = decodeURIComponent(pathname.slice(1))
    await asSuperuser(async (client) => {
      await client.query(`alter database "${database}" allow_connections false`)
      await client.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database}'`,
      )
    })
    withoutDatabase.resolve()
    await until(async () => answered === 1)
    await asSuperuser((client) => client.query(`alter database "${database}" allow_connections true`))
    await turn
    expect(await deliveries()).toMatchObject([{ status: 'delivered', attempts: 1 }])
  })

  test('a master that stops keeps what it sends from others until the receiver has answered', async () => {
    await subscribe()
    const sender = await senderOf(true, undefined, 500)
    await record('custom.slow')
    await fanOut([sender])
    const stop = new AbortController()
    const arrived = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    hold = () => {
      stop.abort()
      arrived.resolve()
      return released.promise
    }
    const turn = sender.deliverOnce(stop.signal)
    await arrived.promise
    const scheduledAt = async () => Date.parse((await deliveries())[0]?.next_at ?? '')
    // More than the lease: it was renewed after the stop.
    const first = await scheduledAt()
    await until(async () => (await scheduledAt()) > first + 500)
    released.resolve()
    await turn
    expect(await deliveries()).toMatchObject([{ status: 'delivered', attempts: 1 }])
  })

  test('a delivery that is being sent is kept from others as long as that takes', async () => {
    await subscribe()
    const { webhooks } = harness.store
    await record('custom.slow')
    await fanOut([await senderOf()])
    const due = () => webhooks.due({ receivers: [], limit: 9, each: 9, leaseMs: 30_000 })
    const [{ id } = { id: 0 }] = await due()
    await expirePauses()
    await webhooks.renew([id], 30_000)
    expect(await due()).toEqual([])
    await expirePauses()
    expect(await due()).toMatchObject([{ id, attempts: 2 }])
  })

  test('the end of a night is one line with what changed, the worst first, and a link', () => {
    const night = {
      ...exampleEvent(),
      topic: 'schedule.ended',
      name: 'nightly',
      data: JSON.stringify({
        schedule: 'nightly_1',
        is_cancelled: false,
        runs: { total: 10, clean: 8, partial: 1, nothing_done: 1 },
        findings: { new: { low: 2, critical: 1 }, back: {}, gone: { high: 4 }, not_tested: { high: 1 } },
        path: '/jobs/0123',
      }),
    }
    const line =
      'ended: 3 new (1 critical, 2 low), 0 back, 4 gone (4 high), 1 not tested (1 high) | 10 runs: 8 clean, 1 partial, 1 nothing done'
    expect(JSON.parse(bodyOf(night, 'slack', 'https://farm.example/'))).toMatchObject({
      text: `nightly_1 ${line} | https://farm.example/jobs/0123`,
    })
    const worst = [
      {
        severity: 'critical',
        kind: 'back',
        title: 'a\n*b* <!here> [c](d) @all \u202e',
        place: 'http://h:80/x_y',
      },
      { severity: 'low', kind: 'new', title: 't'.repeat(300), place: '' },
      7,
    ]
    const titled = { ...night, data: JSON.stringify({ ...(JSON.parse(night.data) as object), worst }) }
    const titles = `critical, back: a *b* <!here> [c](d) @all at http://h:80/x_y
low: ${'t'.repeat(119)}…
and 1 more`
    expect(JSON.parse(bodyOf(titled, 'slack'))).toMatchObject({
      text: `nightly_1 ${line}\n${titles.replace('<!here>', '&lt;!here&gt;')}`,
    })
    expect(JSON.parse(bodyOf(titled, 'discord'))).toMatchObject({
      content: expect.stringContaining(
        '\ncritical, back: a \\*b\\* \\<!here\\> \\[c\\]\\(d\\) @all at http://h:80/x_y\n',
      ),
    })
    expect(bodyOf(titled, 'teams')).toContain(
      JSON.stringify('\n\ncritical, back: a \\*b\\* <!here> \\[c\\](d) @all at http://h:80/x\\_y\n\n').slice(
        1,
        -1,
      ),
    )
    expect(mailOf(titled, 'https://farm.example')).toEqual({
      subject: `Scanfarm: nightly_1 ${line.split(' | ')[0]}`,
      text: `nightly_1 ${line.replace(' | ', '\n')}\nhttps://farm.example/jobs/0123\n${titles}\n`,
    })
    const unclean = [
      { target: '10.0.0.9', status: 'failed', outcome: 'nothing_done', reason: 'no\nanswer' },
      7,
    ]
    const missed = { ...night, data: JSON.stringify({ ...(JSON.parse(night.data) as object), unclean }) }
    expect(mailOf(missed, '').text).toMatch(
      /1 nothing done\nfailed: 10\.0\.0\.9: no answer\nand 1 more not done\n$/,
    )
    const twice = missed.data.replace('"target":"10.0.0.9"', '"target":"10.0.0.9","jobs":2')
    expect(mailOf({ ...missed, data: twice }, '').text).toMatch(
      /1 nothing done\nfailed: 10\.0\.0\.9, 2 jobs: no answer\n$/,
    )
    const digest = { ...night, topic: 'findings.digest', data: night.data.replace('nightly_1', '2 jobs') }
    expect(JSON.parse(bodyOf(digest, 'slack'))).toMatchObject({ text: `2 jobs ${line}` })
    const open = { open: { low: 2, critical: 1 }, oldest_days: { low: 0, critical: 9 }, path: '/findings' }
    const reminder = { ...night, topic: 'findings.reminder', data: JSON.stringify(open) }
    const oldest = '1 critical, the oldest for 9 days | 2 low, the oldest for less than a day'
    expect(JSON.parse(bodyOf(reminder, 'slack', 'https://farm.example'))).toMatchObject({
      text: `3 findings are open | ${oldest} | https://farm.example/findings`,
    })
    const card = { body: [{ type: 'TextBlock', text: `nightly\\_1 ${line}` }] }
    const attached = (content: object) => ({ type: 'message', attachments: [{ content }] })
    expect(JSON.parse(bodyOf(night, 'teams'))).toMatchObject(attached(card))
    const actions = [{ type: 'Action.OpenUrl', url: 'https://farm.example/jobs/0123' }]
    expect(JSON.parse(bodyOf(night, 'teams', 'https://farm.example'))).toMatchObject(
      attached({ ...card, actions }),
    )
    // A path that would belong to another host.
    const hostile = { ...night, data: '{"path": ".evil.example/"}' }
    expect(bodyOf(hostile, 'teams', 'https://farm.example')).not.toContain('evil')
    expect(JSON.parse(bodyOf({ ...night, data: '{"runs": [1], "findings": "x"}' }, 'slack'))).toMatchObject({
      text: 'example ended: 0 new, 0 back, 0 gone | 0 runs',
    })
  })
})
