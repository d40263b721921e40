import { chmod, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, jest, test } from '@jest/globals'
import { createHostRunners } from '@scanfarm/runners'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { WorkFolders } from '../../src/workspaces/work-folders.ts'
import { commandUser } from '../../src/users/uids.ts'
import { sharedUser } from '../../src/users/command-users.ts'
import { openHarness } from '../harness/executors.ts'
import { TEST_MS, bash } from '../harness/runs.ts'

jest.setTimeout(TEST_MS)

/** Only root may run commands as another user. */
const anotherUser = () => (process.getuid?.() === 0 ? commandUser('nobody') : undefined)

const harness = forAllTests(() => openHarness())

test('Commands of a root process run as the user of runner.user, in their own folders, and cannot read files of the process', async () => {
  const owner = anotherUser()
  const own = process.getuid?.() ?? 0
  await writeFile(join(harness.folder, 'secret'), 'secret', { mode: 0o600 })
  await using runners = createHostRunners({ user: owner })
  await using _executor = harness.executor({ users: sharedUser(owner), runners })
  const [runId = 0] = await harness.submit(
    [
      bash('who', 'id -u; touch "$HOME/mine" {{Output}}/shared && echo written'),
      bash(
        'peek',
        `cat ${join(harness.folder, 'secret')} 2>&1 || true; ls ${join(harness.folder, 'work/runs')} 2>&1 || true`,
      ),
    ],
    { targets: ['user.test'] },
  )
  expect(await harness.ended(runId)).toMatchObject({ status: 'completed' })
  const [who, peek] = await harness.steps(runId)
  expect(who?.output).toBe(`${owner?.uid ?? own}\nwritten\n`)
  if (owner !== undefined) expect(peek?.output.match(/Permission denied/g)).toHaveLength(2)
  expect((await stat(join(harness.folder, 'work/workspaces/user.test/shared'))).uid).toBe(owner?.uid ?? own)
})

test('A user is found by name or number, root is undefined, and an unknown user is refused with the name of the setting', () => {
  expect(commandUser('root')).toBeUndefined()
  expect(commandUser('0')).toBeUndefined()
  expect(commandUser('nobody')).toEqual({ uid: expect.any(Number), gid: expect.any(Number) })
  expect(() => commandUser('no such user')).toThrow(
    /runner\.user \(SCANFARM_RUNNER_USER\) is no such user, but/,
  )
})

test('A work folder that the user of commands cannot enter is replaced by one that the user can enter', async () => {
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
