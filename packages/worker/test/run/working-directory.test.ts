import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, jest, test } from '@jest/globals'
import { createHostRunners } from '@scanfarm/runners'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import type { CommandUsers } from '../../src/users/command-users.ts'
import { UserPool } from '../../src/users/user-pool.ts'
import { openHarness, type Harness } from '../harness/executors.ts'
import { TEST_MS, bash, freshName } from '../harness/runs.ts'

jest.setTimeout(TEST_MS)

const asRoot = process.getuid?.() === 0 ? describe : describe.skip
const never = new AbortController().signal

const harness = forAllTests(() => openHarness())

const workspaceOf = (target: string): string => join(harness.folder, 'work/workspaces', target)
const skipped = bash('nothing', 'true', { pre_condition: 'false' })

test('A run whose steps are all skipped makes no folders', async () => {
  await using executor = harness.executor()
  const target = freshName()
  const [runId = 0] = await harness.submit([skipped], { targets: [target] })
  expect(await harness.ended(runId)).toMatchObject({ status: 'completed', outcome: 'nothing_done' })
  await executor.drain(60_000)
  expect(existsSync(workspaceOf(target))).toBe(false)
  expect(readdirSync(join(harness.folder, 'work'))).not.toContain('runs')
})

describe('The folders of a run are there for', () => {
  const cases: Readonly<Record<string, Parameters<Harness['submit']>[0]>> = {
    'a function in a condition': [bash('a', 'true', { pre_condition: "create_folder('made') && false" })],
    'an expression with several functions in a condition': [
      bash('a', 'true', { pre_condition: "let made = create_folder('made'); !made" }),
    ],
    'a generator': {
      kind: 'module',
      params: [{ name: 'x', generator: 'execCmd("mkdir made")' }],
      steps: [skipped],
    },
    'a dependency': {
      kind: 'module',
      dependencies: { functions_conditions: ["create_folder('made')"] },
      steps: [skipped],
    },
    'a hook': { kind: 'module', hooks: { pre_scan_steps: [bash('a', 'mkdir made')] }, steps: [skipped] },
    'a step after skipped ones': [skipped, bash('a', 'mkdir made')],
    'steps beside each other': [
      {
        name: 'all',
        type: 'parallel-steps',
        parallel_steps: [bash('a', 'mkdir made'), bash('b', 'echo "$PWD" > "$TMPDIR/b"')],
      },
    ],
  }
  test.each(Object.entries(cases))('%s', async (_, workflow) => {
    await using _executor = harness.executor()
    const target = freshName()
    const [runId = 0] = await harness.submit(workflow, { targets: [target] })
    expect(await harness.ended(runId)).toMatchObject({ status: 'completed', error_message: '' })
    expect(existsSync(join(workspaceOf(target), 'made'))).toBe(true)
  })

  test('the check of a program by its path', async () => {
    await using _executor = harness.executor()
    const module = { kind: 'module' as const, dependencies: { commands: ['./tool'] }, steps: [skipped] }
    const [runId = 0] = await harness.submit(module, { targets: [freshName()] })
    const { error_message: message } = await harness.ended(runId)
    expect(message).toContain('required command not found: ./tool')
  })
})

asRoot('A run that gets no user', () => {
  let lastUid = 38_500
  const poolOfOne = (waitMs: number): { users: CommandUsers; uids: string } => {
    const first = (lastUid += 10)
    const uids = join(harness.folder, `uids-${first}`)
    const range = { first, last: first }
    return { users: new UserPool({ range, folder: uids, endUser: async () => {}, waitMs }), uids }
  }
  const blocked = (users: CommandUsers) => users.acquire(workspaceOf('blocker.test'), never)

  test('fails with the reason, without attempts, whatever its steps allow', async () => {
    const { users } = poolOfOne(10)
    await using runners = createHostRunners()
    await using _executor = harness.executor({ users, runners })
    const blocker = await blocked(users)
    const step = bash('a', 'true', {
      on_error: [{ action: 'continue' }],
      retry: { attempts: 5, delay: '1h' },
    })
    const [runId = 0] = await harness.submit([step, skipped], { targets: [freshName()] })
    const run = await harness.ended(runId)
    expect(run).toMatchObject({ status: 'failed', outcome: 'nothing_done' })
    expect(run.error_message).toContain('extend the range')
    expect((await harness.steps(runId)).map(({ status }) => status)).toEqual(['failed', 'skipped'])
    await blocker.release()
  })

  test('still completes if all its steps are skipped', async () => {
    const { users } = poolOfOne(10)
    await using runners = createHostRunners()
    await using _executor = harness.executor({ users, runners })
    const blocker = await blocked(users)
    const [runId = 0] = await harness.submit([skipped], { targets: [freshName()] })
    expect(await harness.ended(runId)).toMatchObject({ status: 'completed', error_message: '' })
    await blocker.release()
  })

  test.each([
    ['a command', bash('a', 'true')],
    ['a condition', bash('a', 'true', { pre_condition: "file_exists('x')" })],
  ])('is cancelled while %s waits for it, and leaves no claim', async (_, step) => {
    const { users, uids } = poolOfOne(TEST_MS)
    const waiting = Promise.withResolvers<void>()
    const watched: CommandUsers = {
      sample: users.sample,
      acquire: async (folder, signal) => {
        waiting.resolve()
        return await users.acquire(folder, signal)
      },
    }
    await using runners = createHostRunners()
    const executor = harness.executor({ users: watched, runners })
    const blocker = await blocked(users)
    const [runId = 0] = await harness.submit([step], { targets: [freshName()] })
    await waiting.promise
    expect(await harness.cancelled(runId)).toMatchObject({ status: 'cancelled' })
    await blocker.release()
    await executor[Symbol.asyncDispose]()
    expect(readdirSync(uids)).toEqual([])
  })
})
