import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { makeKeyPair } from '../src/keys.ts'
import { LIFE_DEFAULTS } from '../src/life/settings.ts'
import { checkMachine, type Readiness } from '../src/machine/ssh-check.ts'
import { askOverSsh, type SshPlace } from '../src/machine/ssh-question.ts'
import { userDataOf } from '../src/machine/user-data.ts'
import { openTestCloud, type TestCloud } from './life/test-cloud.ts'

const DEADLINE_MS = 60_000
const CHECK_MS = 20_000
const key = makeKeyPair('user')
const never = new AbortController().signal

describe('The check of a new machine', () => {
  let cloud: TestCloud
  let made = 0
  beforeAll(async () => {
    cloud = await openTestCloud()
  })
  afterAll(async () => {
    await cloud.close()
  })

  const start = async (commands: readonly string[]): Promise<SshPlace> => {
    const hostKey = makeKeyPair('host')
    const user = cloud.defaults.sshUser
    const { publicKey } = key
    made += 1
    const machine = await cloud.create({
      name: `machine-${made}`,
      labels: { farm: 'farm', infra: 'infra', expires: 0 },
      region: '',
      type: '',
      spot: false,
      userData: userDataOf({ user, publicKey, hostKey, tools: [], commands, workFolder: cloud.ownFolder }),
      sshUser: user,
      publicKey,
    })
    const { port } = machine
    return { address: '127.0.0.1', port, user, privateKey: key.privateKey, hostKey: hostKey.publicKey }
  }
  const check = (place: SshPlace, tools: readonly string[] = []): Promise<Readiness> =>
    checkMachine(place, { tools, timeoutMs: CHECK_MS, signal: never, path: LIFE_DEFAULTS.path })
  const until = async (place: SshPlace, kind: Readiness['kind'], tools?: readonly string[]) => {
    const deadline = Date.now() + DEADLINE_MS
    for (;;) {
      const found = await check(place, tools)
      if (found.kind === kind) return found
      if (Date.now() > deadline) throw new Error(`it stays ${JSON.stringify(found)}`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  test('says ready when the setup is done and every tool is there', async () => {
    const place = await start(['echo hello'])
    expect(await until(place, 'ready', ['sh', 'ls'])).toEqual({ kind: 'ready' })
  })

  test('says not yet while the setup goes on', async () => {
    const place = await start(['mkfifo /var/lib/wait', 'cat /var/lib/wait'])
    const deadline = Date.now() + DEADLINE_MS
    let found = await check(place)
    while (found.kind === 'not-yet' && found.reason.startsWith('ssh') && Date.now() < deadline)
      found = await check(place)
    expect(found).toEqual({ kind: 'not-yet', reason: 'it is still setting itself up' })
  })

  test('says never, with the last words, when a setup command failed', async () => {
    const place = await start(['echo the mirror is down', 'false', 'echo not reached'])
    expect(await until(place, 'never')).toEqual({
      kind: 'never',
      reason: 'its setup commands failed with code 1: the mirror is down',
    })
  })

  test('says never, with its name, when a declared tool is missing after the setup', async () => {
    const place = await start([])
    const found = await until(place, 'never', ['ls', "no-such'tool; touch /tmp/x"])
    expect(found).toMatchObject({ reason: expect.stringContaining("it lacks no-such'tool; touch /tmp/x:") })
  })

  test('never takes a machine with another host key', async () => {
    const place = await start([])
    await until(place, 'ready')
    const other = makeKeyPair('other').publicKey
    expect(await check({ ...place, hostKey: other })).toMatchObject({
      kind: 'not-yet',
      reason: expect.stringContaining('another host key'),
    })
  })

  test('says not yet where nobody listens, and where our key is not known', async () => {
    const place = await start([])
    await until(place, 'ready')
    const stranger = makeKeyPair('stranger').privateKey
    expect(await check({ ...place, privateKey: stranger })).toMatchObject({
      kind: 'not-yet',
      reason: expect.stringContaining('authentication'),
    })
    expect(await check({ ...place, port: 1 })).toMatchObject({
      kind: 'not-yet',
      reason: expect.stringContaining('ECONNREFUSED'),
    })
  })

  test('waits no longer than it may for a machine that lets us in and then says nothing', async () => {
    const place = await start([])
    await until(place, 'ready')
    expect(await askOverSsh(place, 'exec sleep 3600', { timeoutMs: 1_000, signal: never })).toEqual({
      kind: 'silent',
      reason: 'no answer within 1 s',
    })
  })

  test('ends with the signal', async () => {
    const place = await start([])
    const options = { tools: [], timeoutMs: CHECK_MS, path: LIFE_DEFAULTS.path }
    await expect(
      checkMachine(place, { ...options, signal: AbortSignal.abort(new Error('enough')) }),
    ).rejects.toThrow('enough')
  })
})
