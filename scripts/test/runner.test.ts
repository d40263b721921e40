import { execFile, type ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import type { Test } from '@jest/test-result'
import { longFirst, planned } from './order.ts'

interface Ended {
  readonly failed: boolean
  readonly out: string
  readonly err: string
}

/** `onOutput`: called when the process of the fixture has written to stderr. */
const runFixture = async (name: string, onOutput?: (runner: ChildProcess) => void): Promise<Ended> => {
  const args = [
    join(import.meta.dirname, 'main.ts'),
    '--testMatch',
    `<rootDir>/scripts/test/fixtures/${name}`,
  ]
  const { promise, resolve } = Promise.withResolvers<Ended>()
  const runner = execFile(process.execPath, args, (error, out, err) =>
    resolve({ failed: error !== null, out, err }),
  )
  runner.stderr?.once('data', () => onOutput?.(runner))
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

test('a file whose import fails prints why', async () => {
  const { failed, err } = await runFixture('imports-nothing.ts')
  expect(failed).toBe(true)
  expect(err).toMatch(/Cannot find package '@scanfarm\/nothing' imported from \S+imports-nothing\.ts/)
})

test('a file whose process blocks in a hook fails, and its error names the hook', async () => {
  const { failed, out, err } = await runFixture('blocks.ts')
  expect(failed).toBe(true)
  expect(out).toContain('0 passed, 1 failed, 0 skipped')
  expect(err).toMatch(/does not answer during afterAll\n +its event loop is busy or blocked/)
})

test('an interrupted run fails and prints what its tests wait for', async () => {
  const { failed, err } = await runFixture('waits.ts', (runner) => runner.kill('SIGTERM'))
  expect(failed).toBe(true)
  expect(err).toMatch(/interrupted during waits for what never comes/)
  expect(err).toMatch(/waits since \d+\.\d s until the run starts; last: 'queued'/)
})

test('long files and files that run one after another start first', () => {
  const names = ['cli/test/settings', 'runners/test/docker', 'cli/test/health', 'cli/test/cluster/recovery']
  const files = names.map((name) => `packages/${name}.test.ts`)
  const inOrder = longFirst(files.map((path) => planned({ path } as Test))).map(({ test: { path } }) => path)
  expect(inOrder).toEqual([files[1], files[3], files[0], files[2]])
})
