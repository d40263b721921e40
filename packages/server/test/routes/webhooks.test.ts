import { createServer } from 'node:http'
import { promisify } from 'node:util'
import { describe, expect, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { SMTPServer } from 'smtp-server'
import { listen } from '@scanfarm/testing'
import { signatureOf } from '../../src/webhooks/signature.ts'
import { testServer, type TestServer } from '../_server.ts'

const server = forAllTests(() => testServer({ workflows: {}, settings: { 'webhooks.allow_private': true } }))

const SECRET = 'sixteen characters or more'
const now = (ahead = 0): string => String(Math.trunc(Date.now() / 1_000) + ahead)
const send = async (name: string, body: string, secret = SECRET, timestamp = now()) =>
  await server.nobody
    .post(`/api/webhooks/${name}`)
    .set('Content-Type', 'application/json')
    .set('X-Scanfarm-Timestamp', timestamp)
    .set('X-Scanfarm-Signature', signatureOf(secret, timestamp, body))
    .send(body)

describe('POST /webhooks/{name}', () => {
  test('a signed request becomes an event', async () => {
    const made = await server.admin.post('/api/incoming-webhooks').send({ name: 'ci', secret: SECRET })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({ name: 'ci', path: '/api/webhooks/ci', secret: SECRET })
    const answer = await send('ci', '{"ref": "main", "__proto__": {"a": 1}}')
    expect(answer.status).toBe(202)
    const { body } = await server.viewer.get('/api/event-logs?topic=webhook.received')
    expect(body.data).toMatchObject([
      { event_id: answer.body.event_id, name: 'ci', source: 'api', data_type: 'webhook' },
    ])
    expect(body.data[0].data).toBe('{"ref":"main","__proto__":{"a":1}}')
  })

  test('a repeated request is refused', async () => {
    const timestamp = now()
    expect((await send('ci', '{"n": 1}', SECRET, timestamp)).status).toBe(202)
    expect((await send('ci', '{"n": 1}', SECRET, timestamp)).status).toBe(409)
  })

  test.each([
    ['another secret', 'ci', 'another secret, long too', now],
    ['an old timestamp', 'ci', SECRET, () => now(-301)],
    ['a timestamp of the future', 'ci', SECRET, () => now(400)],
    ['no timestamp', 'ci', SECRET, () => 'soon'],
    ['an unknown name', 'nobody', SECRET, now],
  ])('a request with %s is refused', async (_, name, secret, timestamp) => {
    const answer = await send(name, '{}', secret, timestamp())
    expect(answer.status).toBe(401)
    expect(answer.body.message).toContain('the signature is invalid')
  })

  test('a signed body that is not JSON is refused', async () => {
    expect((await send('ci', '{"half":')).status).toBe(400)
  })

  test('data above the limit is refused', async () => {
    const answer = await send('ci', JSON.stringify({ text: 'x'.repeat(70_000) }))
    expect(answer.status).toBe(413)
    expect(answer.body.details).toEqual([{ path: '/data', message: expect.stringContaining('65536') }])
    const { body } = await server.viewer.get('/api/event-logs?topic=webhook.received&limit=100')
    for (const { data } of body.data) expect(data.length).toBeLessThan(65_536)
  })

  test('too deep nesting is refused', async () => {
    const refused = await send('ci', '['.repeat(1_001) + ']'.repeat(1_001))
    expect(refused.status).toBe(400)
    expect(refused.body.message).toContain('arrays or objects')
  })

  test('a request whose event could not be written can be repeated', async () => {
    const timestamp = now()
    const alter = async (change: string): Promise<void> =>
      void (await server.database.sql(`alter table event_logs ${change}`))
    await alter(`add constraint no_room check (data <> '{"n":2}')`)
    expect((await send('ci', '{"n": 2}', SECRET, timestamp)).status).toBe(500)
    await alter('drop constraint no_room')
    expect((await send('ci', '{"n": 2}', SECRET, timestamp)).status).toBe(202)
  })

  test('administrators manage incoming webhooks, and secrets are shown only once', async () => {
    expect((await server.operator.get('/api/incoming-webhooks')).status).toBe(403)
    const list = await server.admin.get('/api/incoming-webhooks')
    expect(list.body.data).toEqual([
      {
        name: 'ci',
        path: '/api/webhooks/ci',
        created_at: expect.any(String),
        last_received_at: expect.any(String),
        received_count: 3,
      },
    ])
    expect((await server.admin.post('/api/incoming-webhooks').send({ name: 'ci' })).status).toBe(409)
    await server.admin.delete('/api/incoming-webhooks/ci').expect(200)
    await server.admin.delete('/api/incoming-webhooks/ci').expect(404)
  })
})

describe('webhook subscriptions', () => {
  const DRAFT = { name: 'chat', url: 'https://example.com/hook', topics: ['run.*'], format: 'slack' }

  test('a subscription is created with a secret that is shown once, listed, changed and deleted', async () => {
    const made = await server.admin.post('/api/webhook-subscriptions').send(DRAFT)
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({
      data: { ...DRAFT, filters: [], enabled: true },
      secret: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    const { id } = made.body.data
    const changed = await server.admin.patch(`/api/webhook-subscriptions/${id}`).send({ enabled: false })
    expect(changed.body.data).toMatchObject({ ...DRAFT, enabled: false })
    const list = await server.admin.get('/api/webhook-subscriptions')
    expect(list.body.data).toEqual([changed.body.data])
    expect((await server.admin.get('/api/webhook-deliveries?status=dead')).body.data).toEqual([])
    expect((await server.admin.post('/api/webhook-deliveries/1/redeliver')).status).toBe(404)
    await server.admin.delete(`/api/webhook-subscriptions/${id}`).expect(200)
    await server.admin.delete(`/api/webhook-subscriptions/${id}`).expect(404)
  })

  test('a test sends an example once, and says what the endpoint answered', async () => {
    const got: string[] = []
    await using endpoint = createServer((request, response) => {
      got.push(String(request.headers['x-scanfarm-event']))
      response.writeHead(got.length === 1 ? 204 : 500).end('no')
    })
    const url = `http://127.0.0.1:${await listen(endpoint)}/`
    const made = await server.admin.post('/api/webhook-subscriptions').send({ ...DRAFT, url, enabled: false })
    const test = () => server.admin.post(`/api/webhook-subscriptions/${made.body.data.id}/test`)
    expect((await test().expect(200)).body).toMatchObject({ delivered: true, status: 204, problem: '' })
    expect((await test().expect(200)).body).toMatchObject({
      delivered: false,
      status: 500,
      answer: 'no',
      problem: 'the endpoint answered 500',
    })
    expect(got).toEqual(['job.ended', 'job.ended'])
    await server.operator.post(`/api/webhook-subscriptions/${made.body.data.id}/test`).expect(403)
    await server.admin.post('/api/webhook-subscriptions/999999/test').expect(404)
  })

  test('a subscription by mail sends the subject and the lines of a night to all its addresses', async () => {
    const got: { to: string[]; text: string }[] = []
    const mails = new SMTPServer({
      disabledCommands: ['STARTTLS', 'AUTH'],
      onData: (stream, { envelope }, done) => {
        const mail = { to: envelope.rcptTo.map(({ address }) => address), text: '' }
        got.push(mail)
        stream.on('data', (chunk: Buffer) => (mail.text += chunk.toString())).on('end', () => done())
      },
    })
    const port = await listen(mails)
    await using farm = await testServer({
      workflows: {},
      settings: { 'mail.url': `smtp://127.0.0.1:${port}?from=farm@example.com` },
    })
    const url = 'mailto:ops@example.com, lead@example.com'
    const draft = { ...DRAFT, url, topics: ['schedule.ended'], format: 'mail' }
    const subscribe = async ({ admin }: TestServer): Promise<string> => {
      const made = await admin.post('/api/webhook-subscriptions').send(draft).expect(201)
      return `/api/webhook-subscriptions/${made.body.data.id}/test`
    }
    const path = await subscribe(farm)
    expect((await farm.admin.post(path).expect(200)).body).toMatchObject({ delivered: true, problem: '' })
    expect(got).toEqual([{ to: ['ops@example.com', 'lead@example.com'], text: expect.any(String) }])
    expect(got[0]?.text).toContain('From: farm@example.com')
    expect(got[0]?.text).toContain('Subject: Scanfarm: example ended: 3 new (1 high, 2 low), 0 back')
    expect(got[0]?.text).toContain('\r\n3 runs: 2 clean, 1 partial\r\n')
    await promisify(mails.close.bind(mails))()
    expect((await farm.admin.post(path).expect(200)).body).toMatchObject({
      delivered: false,
      problem: expect.stringMatching(/^the mail server: .*ECONNREFUSED/),
    })
    expect((await server.admin.post(await subscribe(server)).expect(200)).body).toMatchObject({
      delivered: false,
      problem: 'no mail server is set: set mail.url',
    })
  })

  test('an address of the console that is none is refused at the start', async () => {
    for (const address of ['farm.example.com', 'ftp://farm.example.com', 'https://farm.example.com/?a=1'])
      await expect(testServer({ workflows: {}, settings: { 'http.public_url': address } })).rejects.toThrow(
        /http\.public_url.*must be like https:\/\/farm\.example\.com/,
      )
  })

  test.each([
    ['a url that is none', { ...DRAFT, url: 'nowhere' }, '/url'],
    ['another scheme', { ...DRAFT, url: 'file:///etc/passwd' }, '/url'],
    ['a password in the url', { ...DRAFT, url: 'https://a:b@example.com' }, '/url'],
    [
      'a template of an unclosed variable',
      { ...DRAFT, format: 'slack', template: '{{event.topic' },
      '/template',
    ],
    ['a template for json', { ...DRAFT, format: 'json', template: 'ended' }, '/template'],
    ['a report in a chat', { ...DRAFT, format: 'slack', report: true }, '/report'],
    ['a severity that is none', { ...DRAFT, min_severity: 'loud' }, '/min_severity'],
    ['no topics', { ...DRAFT, topics: [] }, '/topics'],
    ['a bad glob', { ...DRAFT, topics: ['a[z-a]'] }, '/topics/0'],
    ['addresses that are none', { ...DRAFT, format: 'mail', url: 'mailto:a b' }, '/url'],
    ['a mail to a url', { ...DRAFT, format: 'mail' }, '/url'],
    ['an unknown format', { ...DRAFT, format: 'xml' }, '/format'],
  ])('a subscription with %s is refused', async (_, body, path) => {
    const answer = await server.admin.post('/api/webhook-subscriptions').send(body)
    expect(answer.status).toBe(400)
    expect(answer.body.details[0]).toMatchObject({ path })
  })
})
