import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { TestCluster } from '@scanfarm/cli/testing'
import { fuzz, type FuzzResult } from '../schemathesis/run.ts'

const FUZZ_MS = 600_000
const LEAST_REQUESTS = 1_000

let cluster: TestCluster
let result: FuzzResult
let folder: string

// The requests create many records, so they use a separate server and database.
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'scanfarm-fuzz-'))
  cluster = await TestCluster.start({ workers: 0, queue: 'postgres', env: { SCANFARM_LOCAL_SLOTS: '0' } })
  const { client } = cluster
  const token = client.callTo('/').headers['authorization']?.replace('Bearer ', '') ?? ''
  result = await fuzz(process.env['SCANFARM_TEST_SCHEMATHESIS'] ?? '', client.url, token, folder)
}, FUZZ_MS)

afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
}, FUZZ_MS)

test('All answers follow the OpenAPI document, whatever is sent, and none is an internal error', () => {
  expect(result.passed ? '' : result.output.slice(-20_000)).toBe('')
})

test('schemathesis sent many requests', () => {
  expect(result.requests).toBeGreaterThan(LEAST_REQUESTS)
})
