import { createServer, type IncomingMessage, type Server } from 'node:http'
import { once } from 'node:events'
import { json } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { listen } from '@scanfarm/testing'
import { testServer, type TestServer } from '../_server.ts'

const KEY = 'sk-very-secret-key'

interface Asked {
  readonly url: string
  readonly authorization: string
  readonly body: Record<string, unknown>
}

let endpoint: Server
let server: TestServer
const asked: Asked[] = []
let reply: { status: number; body: unknown } = { status: 200, body: {} }

beforeAll(async () => {
  endpoint = createServer((request: IncomingMessage, response) => {
    void json(request).then((body) => {
      asked.push({
        url: request.url ?? '',
        authorization: request.headers.authorization ?? '',
        body: body as Asked['body'],
      })
      response.writeHead(reply.status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(reply.body))
    })
  })
  const port = await listen(endpoint)
  server = await testServer({
    settings: {
      'llm.url': `http://:${KEY}@127.0.0.1:${port}/v1?model=house-model`,
    },
  })
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  endpoint.closeAllConnections()
  endpoint.close()
  await once(endpoint, 'close')
})

const chat = (body: object) => server.operator.post('/osm/api/llm/v1/chat/completions').send(body)
const HELLO = { messages: [{ role: 'user', content: 'hello' }] }

describe('POST /llm/v1/chat/completions', () => {
  test('a chat request is forwarded with the configured key and model', async () => {
    reply = {
      status: 200,
      body: {
        id: 'c1',
        model: 'house-model',
        choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
      },
    }
    const { body } = await chat({ ...HELLO, temperature: 0.5 }).expect(200)
    expect(asked.at(-1)).toEqual({
      url: '/v1/chat/completions',
      authorization: `Bearer ${KEY}`,
      body: { model: 'house-model', ...HELLO, temperature: 0.5 },
    })
    expect(body).toMatchObject({
      id: 'c1',
      model: 'house-model',
      content: 'hi',
      finish_reason: 'stop',
      usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
      choices: [{ message: { content: 'hi' } }],
    })
  })

  test('a chat answer contains tool calls', async () => {
    const call = { id: 't1', type: 'function', function: { name: 'look', arguments: '{}' } }
    reply = {
      status: 200,
      body: {
        choices: [
          { message: { role: 'assistant', content: null, tool_calls: [call] }, finish_reason: 'tool_calls' },
        ],
      },
    }
    const { body } = await chat(HELLO).expect(200)
    expect(body).toMatchObject({ content: null, finish_reason: 'tool_calls', tool_calls: [call] })
  })

  test('a refusal of the endpoint answers 400 with its message and without the key', async () => {
    reply = { status: 400, body: { error: { message: `bad model for ${KEY}` } } }
    const { body, text } = await chat({ ...HELLO, model: 'other' }).expect(400)
    expect(body.message).toBe('default answered 400: bad model for ***')
    expect(text).not.toContain(KEY)
  })

  test('a failure of the endpoint answers 503 without the key', async () => {
    reply = { status: 401, body: { error: { message: `wrong key ${KEY}` } } }
    const { text } = await chat(HELLO).expect(503)
    expect(text).not.toContain(KEY)
  })

  test('an answer that repeats the key is masked', async () => {
    reply = { status: 200, body: { choices: [{ message: { content: KEY } }] } }
    const { body } = await chat(HELLO).expect(200)
    expect(body.content).toBe('***')
  })

  test.each([{}, { messages: [] }, { ...HELLO, stream: true }, { ...HELLO, colour: 'red' }])(
    'the body %j answers 400',
    async (body) => {
      await chat(body).expect(400)
    },
  )

  test('a viewer gets 403, and a server without a model answers 501', async () => {
    await server.viewer.post('/api/llm/v1/chat/completions').send(HELLO).expect(403)
    await using without = await testServer()
    const { body } = await without.operator.post('/api/llm/v1/chat/completions').send(HELLO).expect(501)
    expect(body.code).toBe('not_implemented')
    expect(body.message).toContain('llm.url')
  })
})

describe('POST /llm/v1/embeddings', () => {
  test('an embedding request returns vectors', async () => {
    reply = {
      status: 200,
      body: {
        model: 'e',
        data: [{ index: 0, embedding: [1, 2] }],
        usage: { prompt_tokens: 4, total_tokens: 4 },
      },
    }
    const { body } = await server.operator
      .post('/api/llm/v1/embeddings')
      .send({ input: ['a'] })
      .expect(200)
    expect(asked.at(-1)?.url).toBe('/v1/embeddings')
    expect(body).toMatchObject({
      model: 'e',
      embeddings: [[1, 2]],
      usage: { prompt_tokens: 4, total_tokens: 4 },
    })
  })
})
