import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { readConfig, silentLogger } from '@scanfarm/platform'
import { testDatabase, type TestDatabase } from '@scanfarm/store/testing'
import { startServer, type RunningServer } from '../src/index.ts'
import { startProxy, type Proxy } from './_proxy.ts'
import { SETTINGS } from '../src/settings.ts'

const TOKEN = 'sft_outage_test'
const DEADLINE_MS = 60_000

let database: TestDatabase
let proxy: Proxy
let folder = ''
let server: RunningServer

beforeAll(async () => {
  database = await testDatabase()
  const url = new URL(database.url)
  proxy = await startProxy(url.hostname, Number(url.port))
  url.port = String(proxy.port)
  folder = await mkdtemp(join(tmpdir(), 'scanfarm-outage-'))
  const argvOverrides = {
    data_dir: folder,
    'database.url': url.href,
    'auth.initial_token': TOKEN,
    'http.port': 0,
    'local.slots': 0,
    'worker.drain_ms': 1_000,
  }
  server = await startServer(
    readConfig(SETTINGS, { env: {}, argvOverrides }),
    {},
    { log: silentLogger, checkResponses: true },
  )
})
afterAll(async () => {
  proxy.mend()
  await server[Symbol.asyncDispose]()
  await proxy[Symbol.asyncDispose]()
  await database[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

const get = (path: string): Promise<Response> =>
  fetch(server.url + path, { headers: { Authorization: `Bearer ${TOKEN}` } })

describe('during a database outage', () => {
  test('requests answer 503 with a waiting time, and work again afterwards', async () => {
    expect((await get('/api/runs')).status).toBe(200)
    proxy.cut()
    const refused = await get('/api/runs')
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toBe('2')
    expect(await refused.json()).toEqual({
      error: true,
      message: 'the database cannot be reached',
      code: 'unavailable',
      request_id: expect.any(String),
      details: [],
    })
    expect((await get('/health')).status).toBe(200)
    const ready = await get('/health/ready')
    expect(ready.status).toBe(503)
    expect(await ready.json()).toEqual({
      status: 'unavailable',
      checks: { database: 'unavailable', artifacts: 'ok' },
    })
    proxy.mend()
    for (const limit = performance.now() + DEADLINE_MS; performance.now() < limit; await delay(50))
      if ((await get('/health/ready')).status === 200) break
    expect((await get('/api/runs')).status).toBe(200)
  })
})
