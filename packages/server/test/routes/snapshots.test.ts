import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { beforeAll, expect, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { createContext } from '../../src/create-context.ts'
import { entriesOf } from '../../src/routes/workspaces/snapshot-entries.ts'
import { zipOf } from '../../src/routes/workspaces/zip-stream.ts'
import { readConfig } from '@scanfarm/platform'
import { testServer } from '../_server.ts'
import { claimLocalRuns, endRun } from '../_worker.ts'
import { unzipped } from '../_zip.ts'
import { SETTINGS } from '../../src/settings.ts'

const LARGE = 32 * 1024 * 1024

const server = forAllTests(testServer)
beforeAll(async () => {
  await server.operator
    .post('/api/runs')
    .send({ module: 'probe', target: 'a.example', workspace: 'large' })
    .expect(202)
  const [run] = await claimLocalRuns(server.runStore)
  if (run === undefined) throw new Error('the run was not claimed')
  const artifact = async (name: string, content: Readable) => {
    const storeKey = `artifacts/${run.runUuid}/${name}`
    const { size, sha256 } = await server.artifacts.put(storeKey, content)
    return {
      id: randomUUID(),
      name,
      path: `/data/workspaces/large/${name}`,
      type: 'output' as const,
      contentType: 'unknown' as const,
      sizeBytes: size,
      lineCount: 0,
      description: '',
      storeKey,
      sha256,
    }
  }
  await endRun(
    server.runStore,
    run,
    {},
    {
      artifacts: [
        await artifact('a-small', Readable.from(['a'])),
        await artifact('b-small', Readable.from(['b'])),
        await artifact('random', Readable.from([randomBytes(LARGE)])),
      ],
    },
  )
})

/** Requests the snapshot without reading its body. */
const asked = async (): Promise<IncomingMessage> => {
  const request = httpRequest(`${server.url}/api/snapshot-download/large`, {
    headers: { authorization: `Bearer ${server.tokens.viewer}` },
  })
  request.end()
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  response.on('error', () => undefined)
  return response
}

test('at most four snapshots are sent at the same time, and a disconnected client frees its slot', async () => {
  const slow = await Promise.all([1, 2, 3, 4].map(asked))
  expect(slow.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200])
  const { body, headers } = await server.viewer.get('/api/snapshot-download/large').expect(503)
  expect(body.message).toBe('4 snapshots are running already; try again')
  expect(headers['retry-after']).toBe('5')
  for (const response of slow) response.destroy()
  const deadline = performance.now() + 30_000
  let again = await asked()
  while (again.statusCode === 503 && performance.now() < deadline) {
    again.resume()
    await once(again, 'end')
    again = await asked()
  }
  expect(again.statusCode).toBe(200)
  const parts: Buffer[] = []
  for await (const part of again) parts.push(part as Buffer)
  expect(unzipped(Buffer.concat(parts)).get('files/random')).toHaveLength(LARGE)
})

test('files above the limit are left out and counted', async () => {
  const parts: Buffer[] = []
  for await (const part of zipOf(entriesOf(server, 'large', 2))) parts.push(part as Buffer)
  const files = unzipped(Buffer.concat(parts))
  expect([...files.keys()].filter((name) => name.startsWith('files/'))).toEqual([
    'files/a-small',
    'files/b-small',
  ])
  expect(JSON.parse(String(files.get('snapshot.json')))).toMatchObject({ files: 2, files_left_out: 1 })
})

test('an error during a snapshot aborts it, so that a partial file is not mistaken for a complete one', async () => {
  const broken = zipOf(
    (async function* () {
      yield { name: 'one', at: new Date(), open: async () => Readable.from(['x']) }
      throw new Error('the database is away')
    })(),
  )
  await expect(Array.fromAsync(broken)).rejects.toThrow('the database is away')
})

test('a server refuses to start with a short key for file links', async () => {
  const config = readConfig(SETTINGS, { env: {}, argvOverrides: { 'http.files_key': 'short' } })
  await expect(createContext(config)).rejects.toThrow('http.files_key must have at least 20 characters')
})
