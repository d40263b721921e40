import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { testServer, type TestServer } from '../../server/test/_server.ts'
import { createClient, type Client } from '../src/index.ts'

let server: TestServer
let client: Client
beforeAll(async () => {
  server = await testServer({ master: true })
  client = createClient({ url: server.url, token: server.tokens.admin })
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
})

describe('calls', () => {
  test('an answer has the type of its path', async () => {
    const { data } = await client.POST('/runs', {
      body: { module: 'probe', targets: ['a.example', 'b.example'] },
    })
    expect(data.target_count).toBe(2)
    const runs = await client.GET('/runs', { params: { query: { job_id: data.job_id } } })
    expect(runs.data.data.map(({ target }) => target).sort()).toEqual(['a.example', 'b.example'])
    const { data: one } = await client.GET('/runs/{id}', {
      params: { path: { id: String(runs.data.data[0]?.id) } },
    })
    expect(one.data.workflow_name).toBe('probe')
  })

  test('a refusal is an ApiError with all that the server says', async () => {
    const refused = client.GET('/runs/{id}', { params: { path: { id: 'none' } } })
    await expect(refused).rejects.toMatchObject({
      name: 'ApiError',
      status: 404,
      code: 'not_found',
      requestId: expect.stringMatching(/./),
      method: 'GET',
      url: `${server.url}/api/runs/none`,
    })
  })
})

describe('lists', () => {
  test('all records of a list come from as many pages as it has', async () => {
    const targets = Array.from({ length: 45 }, (_, n) => `t${n}.example`)
    const { data } = await client.POST('/runs', { body: { module: 'probe', targets } })
    const found: string[] = []
    for await (const run of client.list('/runs', { params: { query: { job_id: data.job_id } } }))
      found.push(run.target)
    expect(found.sort()).toEqual(targets.sort())
  })
})

describe('events', () => {
  test('a stream sends what happens after it was opened', async () => {
    const stop = new AbortController()
    const open = Promise.withResolvers<void>()
    const topics: string[] = []
    const reading = (async () => {
      for await (const { topic } of client.events({
        topic: 'custom.*',
        signal: stop.signal,
        onConnection: () => open.resolve(),
      })) {
        topics.push(topic)
        if (topics.length === 2) return
      }
    })()
    await open.promise
    await client.POST('/events/emit', { body: { topic: 'custom.one', data: {} } })
    await client.POST('/events/emit', { body: { topic: 'custom.two', data: {} } })
    await reading
    expect(topics).toEqual(['custom.one', 'custom.two'])
  })
})
