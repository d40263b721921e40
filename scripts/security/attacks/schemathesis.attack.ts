import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { TestCluster } from '@scanfarm/cli/testing'
import { fuzz, type Fuzzed } from '../schemathesis/run.ts'

const FUZZ_MS = 300_000
const LEAST_REQUESTS = 1_000

let farm: TestCluster
let fuzzed: Fuzzed
let folder: string

// A server without workers on a database that no other attack needs: whatever the requests create stays there.
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'scanfarm-fuzz-'))
  farm = await TestCluster.start({ workers: 0, queue: 'postgres', env: { SCANFARM_LOCAL_SLOTS: '0' } })
  const { client } = farm
  const token = client.callTo('/').headers['authorization']?.replace('Bearer ', '') ?? ''
  fuzzed = await fuzz(process.env['SCANFARM_SCHEMATHESIS'] ?? '', client.url, token, folder)
}, FUZZ_MS)

afterAll(async () => {
  await farm?.[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
}, FUZZ_MS)

test('answers of all routes keep to the document, whatever is sent, and none is an internal error', () => {
  expect(fuzzed.passed ? '' : fuzzed.output.slice(-20_000)).toBe('')
})

test('the requests were many', () => {
  expect(fuzzed.requests).toBeGreaterThan(LEAST_REQUESTS)
})
