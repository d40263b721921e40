import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import type { Runner } from '@scanfarm/contracts'
import { until } from '@scanfarm/testing'
import { createHostRunners, type HostRunners } from '../src/index.ts'
import { see, sh } from './conformance/harness.ts'
import { alive, TEST_MS, token } from './processes.ts'

jest.setTimeout(TEST_MS)

/** Each test has its own users: processes of an earlier test may not be reaped yet. */
let lastUid = 39_900
const newUser = () => ({ uid: ++lastUid, gid: lastUid })
const asRoot = process.getuid?.() === 0 ? describe : describe.skip

asRoot.each(['perl', 'node'] as const)('the host runner, with the launcher in %s, as root', (launcher) => {
  let folder: string
  let provider: HostRunners
  let runs = 0
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'purge-'))
    await chmod(folder, 0o711)
    provider = createHostRunners({ launcher, bounds: { umask: '007', processes: 60 } })
  })
  afterEach(async () => {
    await provider[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })

  const open = async (owner: { uid: number; gid: number }): Promise<Runner> =>
    provider.open(
      { type: 'host' },
      {
        runUuid: crypto.randomUUID(),
        attempt: 1,
        folder: await mkdtemp(join(folder, 'run-')),
        marker: `purge-${process.pid}-${++runs}`,
        owner,
        signal: new AbortController().signal,
        log: () => {},
      },
    )

  test('kills orphans of a run with its user, and no process of another user', async () => {
    const [word, other] = [token(), token()]
    const [A, B] = [newUser(), newUser()]
    await using a = await open(A)
    await using b = await open(B)
    const daemon = `env -i setsid sh -c ': >up; exec sleep ${word}' </dev/null >/dev/null 2>&1`
    const escape = `(${daemon} &); until [ -e up ]; do sleep 0.01; done; echo go`
    expect((await see(a, sh(escape))).stdout).toBe('go\n')
    const running = b.run(sh(`sleep ${other}`), { signal: AbortSignal.timeout(TEST_MS) })
    await until(() => alive(word).length > 0 && alive(other).length > 0)
    await provider.endUser(A)
    await until(() => alive(word).length === 0)
    expect(alive(other)).toHaveLength(1)
    await provider.endUser(A)
    await provider.endUser(B)
    expect(await running).toMatchObject({ kind: 'signalled', signal: 'SIGKILL' })
  })

  test('limits commands: umask, processes of the user, no core dumps, no inherited group or capability', async () => {
    await using runner = await open(newUser())
    const { stdout } = await see(
      runner,
      sh('umask; grep -E "^(Groups|Cap(Prm|Eff|Amb))" /proc/self/status; cat /proc/self/limits'),
    )
    expect(stdout).toMatch(/^0007\nGroups:\t(\d+)? \n/)
    expect(stdout.match(/^Cap\w+:\t0{16}$/gm)).toHaveLength(3)
    expect(stdout).toMatch(/Max core file size +0 +0 /)
    expect(stdout).toMatch(/Max processes +60 +60 /)
    const most = Number(/Max open files +\d+ +(\d+) /.exec(stdout)?.[1])
    expect(most).toBeLessThanOrEqual(65_536)
  })

  test('survives a fork bomb, and so does a run of another user', async () => {
    const A = newUser()
    await using a = await open(A)
    await using b = await open(newUser())
    const cancel = new AbortController()
    const bomb = a.run(
      { ...sh('f() { f | f & }; f; while :; do f; done'), graceMs: 0 },
      { signal: cancel.signal },
    )
    for (let times = 0; times < 5; times += 1)
      expect(await see(b, sh('echo fine'))).toMatchObject({ stdout: 'fine\n' })
    cancel.abort()
    await bomb
    await provider.endUser(A)
    // Killed processes count until they are reaped.
    await until(async () => (await see(a, sh('echo over | cat'))).stdout === 'over\n')
  })

  test('hides the secrets of this program and the environment of the launcher from commands', async () => {
    const spy = `cat /proc/${process.pid}/environ /proc/$PPID/environ 2>&1 | tr '\\0' '\\n'; ls /proc/$PPID/fd 2>&1`
    await using runner = await open(newUser())
    const { stdout } = await see(runner, sh(spy))
    expect(stdout).toMatch(/(.*Permission denied\n){3}/)
    const started = provider.launcherPid
    if (started !== undefined)
      expect(await readFile(`/proc/${started}/environ`, 'utf8')).not.toMatch(/DATABASE_URL|TOKEN|SECRET/)
  })
})
