import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { openObjectStorage } from '@scanfarm/artifacts'
import type { Step } from '@scanfarm/workflow'
import { llmSettings } from '../src/llm-settings.ts'
import { openBench, type Bench } from './bench.ts'

let bench: Bench
beforeAll(async () => {
  bench = await openBench()
})
afterAll(async () => {
  await bench[Symbol.asyncDispose]()
})

const call = (name: string, expression: string): Step => ({ name, type: 'function', function: expression })
const hidden = (value: string) => ({ reveal: () => value })

/** Speaks the chat protocol and answers with what it was asked, by whom, for which model. */
const openModel = async (): Promise<AsyncDisposable & { baseUrl: string }> => {
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const { model, messages } = JSON.parse(body)
      const content = [request.headers.authorization, model, messages[0].content].join(' ')
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ choices: [{ message: { role: 'assistant', content } }] }))
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    baseUrl: `http://127.0.0.1:${address.port}/v1`,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

test('functions of a run reach the object storage and the language model that the executor was given', async () => {
  await using model = await openModel()
  await using storage = openObjectStorage({
    endpoint: 'http://127.0.0.1:1',
    bucket: 'shelf',
    region: 'us-east-1',
    prefix: 'below',
    accessKey: hidden('test'),
    secretKey: hidden('secret-of-test'),
    forcePathStyle: true,
  })
  const llm = llmSettings({ baseUrl: model.baseUrl, apiKey: hidden('k'), model: 'm' })
  await using _executor = bench.executor({ services: { storage, llm } })
  // A signed address is made without asking the bucket.
  const [runId = 0] = await bench.submit([
    call('sign', 'cdn_get_presigned_url("report.txt", 5)'),
    call('ask', 'llm_invoke("hello")'),
  ])
  expect(await bench.ended(runId)).toMatchObject({ status: 'completed', error_message: '' })
  const [sign, ask] = (await bench.steps(runId)).map(({ output }) => output.trim())
  expect(sign).toMatch(/^http:\/\/127\.0\.0\.1:1\/shelf\/below\/report\.txt\?.*X-Amz-Expires=300/)
  expect(ask).toBe('Bearer k m hello')
})

test('without a language model in the settings there is none', () => {
  expect(llmSettings({ baseUrl: undefined, apiKey: undefined, model: undefined })).toBeUndefined()
})
