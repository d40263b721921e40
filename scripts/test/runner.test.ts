import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import type { Test } from '@jest/test-result'
import { longFirst, planned } from './order.ts'

interface Ended {
  readonly failed: boolean
  readonly out: string
  readonly err: string
}

const runFixture = async (name: string): Promise<Ended> => {
  const args = [
    join(import.meta.dirname, 'main.ts'),
    '--testMatch',
    `<rootDir>/scripts/test/fixtures/${name}`,
  ]
  const { promise, resolve } = Promise.withResolvers<Ended>()
  execFile(process.execPath, args, (error, out, err) => resolve({ failed: error !== null, out, err }))
  return promise
}

test('a test that exceeds its time limit prints what it waits for', async () => {
  const { failed, out, err } = await runFixture('hangs.ts')
  expect(failed).toBe(true)
  expect(out).toContain('0 passed, 1 failed, 0 skipped')
  expect(err).toMatch(/hangs\.ts: waits for what never comes exceeded its time limit/)
  expect(err).toMatch(/waits since \d+\.\d s until the run starts; last: 'queued'/)
})

test('a file whose process ends before its result fails', async () => {
  const { failed, out, err } = await runFixture('exits.ts')
  expect(failed).toBe(true)
  expect(out).toContain('0 passed, 1 failed, 0 skipped')
  expect(err).toContain('ended with SIGKILL before its result')
})

test('long files and files that run one after another start first', () => {
  const names = ['cli/test/settings', 'runners/test/docker', 'cli/test/health', 'cli/test/cluster/recovery']
  const files = names.map((name) => `packages/${name}.test.ts`)
  const inOrder = longFirst(files.map((path) => planned({ path } as Test))).map(({ test: { path } }) => path)
  expect(inOrder).toEqual([files[1], files[3], files[0], files[2]])
})
