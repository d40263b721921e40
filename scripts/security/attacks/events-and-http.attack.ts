import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { call, farm, recordsOf, watchFarm } from '../farm/attacked-farm.ts'
import { ended, runToEnd, stepNamed, uploadModule } from '../farm/runs.ts'
import { hostileValues } from '../hostile/corpus.ts'

const LONG = 1_000
const CONTINUE = [{ action: 'continue' }]
const HEX = 'od -An -v -tx1'
const fromHex = (output: string): string => Buffer.from(output.replaceAll(/\s+/g, ''), 'hex').toString('utf8')
const canary = join(farm.canaries, 'events')
const values = hostileValues(canary)

const noCanary = (): void => {
  expect(readdirSync(farm.canaries).filter((name) => name.startsWith('events'))).toEqual([])
}

describe('events', () => {
  const topic = 'custom.hostile'
  const WAIT_MS = 60_000

  beforeAll(async () => {
    await uploadModule('hostile-event', {
      params: [{ name: 'v', type: 'string' }],
      triggers: [
        {
          name: 'hostile',
          on: 'event',
          enabled: true,
          event: { topic },
          input: { target: 'event_data.host', v: 'event_data.v' },
        },
      ],
      steps: [
        { name: 'param', type: 'bash', command: `printf %s {{v}} | ${HEX}`, on_error: CONTINUE },
        {
          name: 'envelope',
          type: 'bash',
          command: `printf %s '{{EventEnvelope}}' | ${HEX}`,
          on_error: CONTINUE,
        },
        { name: 'shell', type: 'bash', command: 'sh -c "echo {{v}} {{EventEnvelope}}"', on_error: CONTINUE },
        { name: 'search', type: 'bash', command: 'find . "{{Output}}" -name CANARY' },
      ],
    })
  })

  const runWith = async (target: string): Promise<string> => {
    const deadline = Date.now() + WAIT_MS
    for (;;) {
      const [run] = recordsOf<{ run_uuid: string }>(await call('get', `/runs?target=${target}`))
      if (run !== undefined) return run.run_uuid
      if (Date.now() > deadline) throw new Error(`the event has started no run of target ${target}`)
      await delay(50)
    }
  }

  test.each(values.map((one, index) => ({ ...one, index })))(
    'A hostile value of an event arrives unchanged, fails its step, or starts no run: $name',
    async ({ value, index }) => {
      const host = `event-${index}.test`
      const answer = await call('post', '/events/emit', { body: { topic, data: { host, v: value } } })
      if (answer.status === 400) return expect(answer.text).toContain('/data')
      expect(answer.status).toBe(200)
      // A refused param creates no run, and the event log has the reason.
      if (recordsOf(answer, 'triggered_workflows').length === 0) {
        const [entry] = recordsOf<{ error: string }>(await call('get', `/event-logs?topic=${topic}&limit=1`))
        return expect(entry?.error).not.toBe('')
      }
      const run = await ended(await runWith(host))
      const [param, envelope, search] = ['param', 'envelope', 'search'].map((name) => stepNamed(run, name))
      if (param?.status === 'completed') expect(fromHex(param.output)).toBe(value)
      else expect(param?.error_message).not.toBe('')
      // Only the end of a long output is stored.
      if (envelope?.status === 'completed' && value.length < LONG)
        expect(JSON.parse(fromHex(envelope.output))).toMatchObject({ data: { v: value } })
      expect(search).toMatchObject({ status: 'completed', output: '' })
      noCanary()
    },
  )
})

describe('http steps', () => {
  const received: { url: string; headers: Record<string, unknown>; body: string }[] = []
  let server: Server

  beforeAll(async () => {
    server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        received.push({
          url: request.url ?? '',
          headers: request.headers,
          body: Buffer.concat(chunks).toString(),
        })
        response.end('ok')
      })
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  afterAll(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })

  test('A hostile value in an http step adds neither a header nor a request', async () => {
    const { port } = server.address() as AddressInfo
    const module = await uploadModule('hostile-http', {
      params: [{ name: 'v', type: 'string' }],
      steps: [
        {
          name: 'ask',
          type: 'http',
          url: `http://127.0.0.1:${port}/path?q={{v}}`,
          method: 'POST',
          headers: { 'X-Value': '{{v}}' },
          request_body: '{{v}}',
          timeout: '10s',
          on_error: CONTINUE,
        },
      ],
    })
    const lines = [
      'a\r\nX-Pwned: 1',
      'a\nX-Pwned: 1\n\nGET /second HTTP/1.1',
      'a b',
      '@elsewhere/',
      '#x',
      '&y=1',
    ]
    for (const v of lines) {
      received.length = 0
      await runToEnd({ module, params: { v } })
      expect(received.length).toBeLessThanOrEqual(1)
      for (const { url, headers } of received) {
        expect(headers).not.toHaveProperty('x-pwned')
        expect(url).toMatch(/^\/path/)
      }
    }
  })
})

watchFarm()
