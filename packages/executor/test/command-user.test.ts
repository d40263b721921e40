import { chmod, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { createHostRunners } from '@scanfarm/runners'
import { WorkFolders } from '../src/folders.ts'
import { commandUser } from '../src/command-user.ts'
import { sharedUser } from '../src/users/command-users.ts'
import { bash, openBench, TEST_MS, type Bench } from './bench.ts'

jest.setTimeout(TEST_MS)

/** Only root may run commands as another user. */
const anotherUser = () => (process.getuid?.() === 0 ? commandUser('nobody') : undefined)

let bench: Bench
beforeAll(async () => {
  bench = await openBench()
  // Temporary folders are closed to others; a work folder must let them through.
  await chmod(bench.folder, 0o711)
})
afterAll(async () => {
  await bench[Symbol.asyncDispose]()
})

test('Commands of a privileged program run as the user that it is given, in folders of their own, and read none of its files', async () => {
  const owner = anotherUser()
  const own = process.getuid?.() ?? 0
  await writeFile(join(bench.folder, 'secret'), 'secret', { mode: 0o600 })
  await using runners = createHostRunners({ user: owner })
  await using _executor = bench.executor({ users: sharedUser(owner), runners })
  const [runId = 0] = await bench.submit(
    [
      bash('who', 'id -u; touch "$HOME/mine" {{Output}}/shared && echo written'),
      bash(
        'peek',
        `cat ${join(bench.folder, 'secret')} 2>&1 || true; ls ${join(bench.folder, 'work/runs')} 2>&1 || true`,
      ),
    ],
    { targets: ['user.test'] },
  )
  expect(await bench.ended(runId)).toMatchObject({ status: 'completed' })
  const [who, peek] = await bench.steps(runId)
  expect(who?.output).toBe(`${owner?.uid ?? own}\nwritten\n`)
  if (owner !== undefined) expect(peek?.output.match(/Permission denied/g)).toHaveLength(2)
  expect((await stat(join(bench.folder, 'work/workspaces/user.test/shared'))).uid).toBe(owner?.uid ?? own)
})

test('A user is found by name and number, root is none, and an unknown one is refused with the setting to change', () => {
  expect(commandUser('root')).toBeUndefined()
  expect(commandUser('0')).toBeUndefined()
  expect(commandUser('nobody')).toEqual({ uid: expect.any(Number), gid: expect.any(Number) })
  expect(() => commandUser('no such user')).toThrow(
    /runner\.user \(SCANFARM_RUNNER_USER\) names no such user/,
  )
})

test('A work folder that the user of commands cannot enter is replaced by one that he can', async () => {
  const base = await mkdtemp(join(tmpdir(), 'closed-'))
  const wished = join(base, 'work')
  const nobody = anotherUser()
  const folders = new WorkFolders(wished, nobody)
  if (nobody === undefined) expect(folders.base).toBe(wished)
  else expect(folders.base).toMatch(/^\/var\/lib\/scanfarm-work\/[0-9a-f]{16}$/)
  await rm(folders.base, { recursive: true })
  await chmod(base, 0o711)
  expect(new WorkFolders(wished, nobody).base).toBe(wished)
  await rm(base, { recursive: true })
})
