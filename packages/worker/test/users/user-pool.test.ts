import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { chmod, mkdtemp, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { createHostRunners, type HostRunners } from '@scanfarm/runners'
import { until } from '@scanfarm/testing'
import { nameProcess } from '../../src/workspaces/process-name.ts'
import { Homes } from '../../src/workspaces/homes.ts'
import { usableTools } from '../../src/tools/usable-tools.ts'
import type { CommandUsers, UserLease } from '../../src/users/command-users.ts'
import { UserPool } from '../../src/users/user-pool.ts'
import { TEST_MS, isAlive } from '../harness/runs.ts'

jest.setTimeout(TEST_MS)

const asRoot = process.getuid?.() === 0 ? describe : describe.skip
/** Each test has its own uids: processes of the previous test may take a moment to be reaped. */
let lastUid = 38_000

asRoot('Users of commands', () => {
  let folder: string
  let runners: HostRunners
  let first: number
  const never = new AbortController().signal

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pool-'))
    await chmod(folder, 0o711)
    runners = createHostRunners()
    first = lastUid += 10
  })
  afterEach(async () => {
    await runners[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })

  const pool = (uids: number, waitMs = 10_000, homes?: Homes): CommandUsers =>
    new UserPool({
      homes,
      range: { first, last: first + uids - 1 },
      folder: join(folder, 'uids'),
      endUser: (user, areOurs) => runners.endUser(user, areOurs),
      waitMs,
    })
  const workspace = (name: string): string => join(folder, 'workspaces', name)
  const uidOf = ({ owner }: UserLease): number => owner?.uid ?? -1

  const run = async ({ owner }: UserLease, script: string): Promise<string> => {
    const child = spawn('/bin/sh', ['-c', script], { ...owner, cwd: '/', stdio: ['ignore', 'pipe', 'pipe'] })
    let said = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (said += chunk.toString()))
    await once(child, 'close')
    return said
  }

  /** Runs a command that leaves a process without its marker. Resolves with the pid. */
  const escapeOf = async ({ owner }: UserLease): Promise<number> => {
    const runner = await runners.open(
      { type: 'host' },
      {
        runUuid: randomUUID(),
        attempt: 1,
        folder: await mkdtemp(join(folder, 'run-')),
        marker: randomUUID(),
        owner,
        signal: never,
        log: () => {},
      },
    )
    const script = 'env -i setsid sh -c "sleep 300 & echo \\$! >pid" </dev/null >/dev/null 2>&1; cat pid'
    let said = ''
    await runner.run(
      { argv: ['/bin/sh', '-c', script], env: { PATH: '/usr/bin:/bin' } },
      { signal: never, onOutput: (_stream, chunk) => void (said += chunk.toString()) },
    )
    await runner[Symbol.asyncDispose]()
    return Number(said)
  }

  test('are shared by the runs of a workspace and never by two workspaces, in all programs of the machine', async () => {
    const [one, other] = [pool(8), pool(8)]
    const names = ['a', 'b', 'c', 'd']
    const leases = await Promise.all(
      [one, other].flatMap((users) => names.map((name) => users.acquire(workspace(name), never))),
    )
    const uids = leases.map(uidOf)
    expect(uids.slice(0, 4)).toEqual(uids.slice(4))
    expect(new Set(uids).size).toBe(4)
    await Promise.all(leases.map((lease) => lease.release()))
    expect(await readdir(join(folder, 'uids'))).toEqual([])
    // A service may write to this folder, but not to others beside it.
    expect((await readdir(folder)).sort()).toEqual(['uids', 'workspaces'])
  })

  test('of a large range are never shared by two workspaces', async () => {
    // Outside of the usual range: processes of these users end, also those of tests beside this one.
    first = 45_000
    const [one, other] = [pool(4_096), pool(4_096)]
    const names = Array.from({ length: 200 }, (_, n) => `w${n}`)
    const leases = await Promise.all(
      [one, other].flatMap((users) => names.map((name) => users.acquire(workspace(name), never))),
    )
    const uids = leases.map(uidOf)
    expect(uids.slice(0, 200)).toEqual(uids.slice(200))
    expect(new Set(uids).size).toBe(200)
    expect(Math.min(...uids)).toBeGreaterThanOrEqual(first)
    expect(Math.max(...uids)).toBeLessThan(first + 4_096)
    await Promise.all(leases.map((lease) => lease.release()))
    expect(await readdir(join(folder, 'uids'))).toEqual([])
  })

  test('stay the same for a workspace, so that its files keep their owner', async () => {
    const users = pool(8)
    const uids: number[] = []
    for (let times = 0; times < 3; times += 1) {
      const lease = await users.acquire(workspace('a'), never)
      uids.push(uidOf(lease))
      await lease.release()
    }
    expect(new Set(uids).size).toBe(1)
  })

  test('cannot enter the folder of another workspace, even if it was theirs before', async () => {
    const users = pool(1)
    const a = await users.acquire(workspace('a'), never)
    await run(
      a,
      `umask 0; chmod 777 ${workspace('a')}; cd ${workspace('a')} && mkdir -m 777 deep && echo secret >deep/file`,
    )
    const stranger = { owner: { uid: first + 5, gid: first + 5 }, release: async () => {} }
    await chmod(workspace('a'), 0o700)
    expect(await run(stranger, `cat ${workspace('a')}/deep/file`)).toMatch('Permission denied')
    await a.release()
    const b = await users.acquire(workspace('b'), never)
    expect(uidOf(b)).toBe(uidOf(a))
    expect(await run(b, `cat ${workspace('a')}/deep/file; ls ${workspace('a')}`)).toMatch(
      /Permission denied\n.*Permission denied\n/,
    )
    await b.release()
    const again = await users.acquire(workspace('a'), never)
    expect(await run(again, `cat ${workspace('a')}/deep/file`)).toBe('secret\n')
    await again.release()
  })

  test('become the owners of the files of their workspace, except files of other users', async () => {
    const users = pool(2)
    const before = await users.acquire(workspace('a'), never)
    await run(
      before,
      `cd ${workspace('a')} && mkdir -p -m 700 deep && echo mine >deep/file && chmod 600 deep/file`,
    )
    await before.release()
    await writeFile(join(folder, 'shadow'), 'of root', { mode: 0o600 })
    await run(
      { owner: { uid: 0, gid: 0 }, release: async () => {} },
      `ln ${join(folder, 'shadow')} ${workspace('a')}/link; ln -s ${join(folder, 'shadow')} ${workspace('a')}/soft`,
    )
    // Another program uses the uid now, for another workspace.
    await writeFile(join(folder, 'uids', `${uidOf(before)}.${'0'.repeat(16)}.${nameProcess()}`), '')
    const after = await users.acquire(workspace('a'), never)
    expect(uidOf(after)).not.toBe(uidOf(before))
    expect(await run(after, `cat ${workspace('a')}/deep/file; cat ${workspace('a')}/link`)).toMatch(
      /^mine\n.*Permission denied/,
    )
    expect((await stat(join(folder, 'shadow'))).uid).toBe(0)
    await after.release()
  })

  test('have no processes of a previous run when another workspace gets them', async () => {
    const users = pool(1)
    const a = await users.acquire(workspace('a'), never)
    const pid = await escapeOf(a)
    expect(await isAlive(pid)).toBe(true)
    const waiting = users.acquire(workspace('b'), never)
    await a.release()
    const b = await waiting
    // A killed process takes a moment to disappear.
    await until(async () => ((await isAlive(pid)) ? undefined : true))
    await b.release()
  })

  test('have no processes of a run during whose end another program tries to get them', async () => {
    const a = await pool(1).acquire(workspace('a'), never)
    const pid = await escapeOf(a)
    // That program removes its claim when it sees the other one.
    const claim = join(folder, 'uids', `${uidOf(a)}.${'0'.repeat(16)}.${nameProcess()}`)
    await writeFile(claim, '')
    await a.release()
    await until(async () => ((await isAlive(pid)) ? undefined : true))
    await rm(claim)
  })

  test('have no processes of another program that shared them', async () => {
    const [one, other] = [pool(1), pool(1)]
    const a = await one.acquire(workspace('a'), never)
    const joined = await other.acquire(workspace('a'), never)
    const pid = Number(await run(joined, 'setsid sleep 300 </dev/null >/dev/null 2>&1 & echo $!'))
    await joined.release()
    expect(await isAlive(pid)).toBe(true)
    await a.release()
    await until(async () => ((await isAlive(pid)) ? undefined : true))
    expect(await readdir(join(folder, 'uids'))).toEqual([])
  })

  test('have no processes and open folders of a crashed program when another workspace gets them', async () => {
    const users = pool(2)
    const other = await users.acquire(workspace('other'), never)
    const crashed = await users.acquire(workspace('a'), never)
    await run(crashed, `echo secret >${workspace('a')}/file`)
    const left = spawn('/bin/sh', ['-c', 'exec sleep 300'], { ...crashed.owner, env: {}, stdio: 'ignore' })
    const leftEnds = once(left, 'exit')
    // The claim of a process that has died.
    const claims = await readdir(join(folder, 'uids'))
    const name = claims.find((claim) => claim.startsWith(`${uidOf(crashed)}.`)) ?? ''
    const [uid, key] = name.split('.')
    await rename(join(folder, 'uids', name), join(folder, 'uids', `${uid}.${key}.1-1-00000000-gone`))
    const next = await pool(2).acquire(workspace('b'), never)
    expect(uidOf(next)).toBe(uidOf(crashed))
    expect(await leftEnds).toEqual([null, 'SIGKILL'])
    expect(await run(next, `cat ${workspace('a')}/file`)).toMatch('Permission denied')
    await Promise.all([next.release(), other.release()])
    expect(await readdir(join(folder, 'uids'))).toEqual([])
  })

  test('that could not be cleaned stay with their workspace and are cleaned before it gets them again', async () => {
    let failures = 1
    const users = new UserPool({
      range: { first, last: first },
      folder: join(folder, 'uids'),
      endUser: async (user) => {
        if (failures-- > 0) throw new Error('a process cannot be killed')
        await runners.endUser(user, false)
      },
      waitMs: 300,
    })
    const a = await users.acquire(workspace('a'), never)
    const pid = await escapeOf(a)
    await expect(a.release()).rejects.toThrow('cannot be killed')
    await expect(users.acquire(workspace('b'), never)).rejects.toThrow('all 1 users')
    const again = await users.acquire(workspace('a'), never)
    await until(async () => ((await isAlive(pid)) ? undefined : true))
    await again.release()
    const b = await users.acquire(workspace('b'), never)
    expect(uidOf(b)).toBe(uidOf(a))
    await b.release()
  })

  test('are claimed although an operator has deleted the folder of claims', async () => {
    const users = pool(8)
    const before = await users.acquire(workspace('a'), never)
    await rm(join(folder, 'uids'), { recursive: true })
    // It cannot be made again.
    await writeFile(join(folder, 'uids'), '')
    await expect(users.acquire(workspace('b'), never)).rejects.toThrow(/EEXIST|ENOTDIR/)
    const other = openSync(join(folder, 'other'), 'w')
    await expect(users.acquire(workspace('b'), never)).rejects.toThrow(/EEXIST|ENOTDIR/)
    closeSync(other)
    expect(await readFile(join(folder, 'other'), 'utf8')).toBe('')
    await rm(join(folder, 'uids'))
    const after = await users.acquire(workspace('b'), never)
    await expect(before.release()).rejects.toThrow('ENOENT')
    await after.release()
    expect(await readdir(join(folder, 'uids'))).toEqual([])
  })

  test('keep the homes of their workspaces when tools are detected', async () => {
    const homes = new Homes(join(folder, 'homes'), 'workspace')
    homes.prepare(undefined)
    const users = pool(8, undefined, homes)
    const names = ['tools', '.tools', 'work']
    const leases = await Promise.all(names.map((name) => users.acquire(workspace(name), never)))
    const places = { runners, users, workFolder: folder, path: '/usr/bin:/bin' }
    expect(await usableTools(places, ['sh', 'no-such-tool'])).toEqual(['sh'])
    const owners = await Promise.all(names.map(async (name) => (await stat(homes.of(workspace(name)))).uid))
    expect(owners).toEqual(leases.map(uidOf))
    await Promise.all(leases.map((lease) => lease.release()))
  })

  test('that are all in use fail a run with the name of the setting, and a stopped run does not wait', async () => {
    const users = pool(1, 300)
    const a = await users.acquire(workspace('a'), never)
    await expect(users.acquire(workspace('b'), never)).rejects.toThrow(
      /all 1 users of runner\.user \(\d+-\d+\): extend the range, or reduce the slots/,
    )
    await expect(users.acquire(workspace('b'), AbortSignal.abort())).rejects.toThrow('the run was stopped')
    await a.release()
    const b = await users.acquire(workspace('b'), never)
    expect(uidOf(b)).toBe(uidOf(a))
    await b.release()
  })
})
