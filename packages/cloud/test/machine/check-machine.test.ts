import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { until } from '@scanfarm/testing'
import { createKeyPair } from '../../src/machine/ssh-keys.ts'
import { PROVISIONING_DEFAULTS } from '../../src/provisioning/settings.ts'
import { checkMachine, type Readiness } from '../../src/machine/check-machine.ts'
import { runOverSsh, type SshHost } from '../../src/machine/run-over-ssh.ts'
import { renderUserData } from '../../src/machine/user-data.ts'
import { openFakeCloud, type FakeCloud } from '../fake-cloud.ts'

const DEADLINE_MS = 60_000
const CHECK_MS = 20_000
const key = createKeyPair('user')
const never = new AbortController().signal

describe('The check of a new machine', () => {
  let cloud: FakeCloud
  let made = 0
  beforeAll(async () => {
    cloud = await openFakeCloud()
  })
  afterAll(async () => {
    await cloud.close()
  })

  const start = async (commands: readonly string[]): Promise<SshHost> => {
    const hostKey = createKeyPair('host')
    const user = cloud.defaults.sshUser
    const { publicKey } = key
    made += 1
    const machine = await cloud.create({
      name: `machine-${made}`,
      labels: { farm: 'farm', infra: 'infra', expires: 0 },
      region: '',
      type: '',
      spot: false,
      userData: renderUserData({
        user,
        publicKey,
        hostKey,
        tools: [],
        commands,
        workFolder: cloud.ownFolder,
      }),
      sshUser: user,
      publicKey,
    })
    const { port } = machine
    return { address: '127.0.0.1', port, user, privateKey: key.privateKey, hostKey: hostKey.publicKey }
  }
  const check = (place: SshHost, tools: readonly string[] = []): Promise<Readiness> =>
    checkMachine(place, { tools, timeoutMs: CHECK_MS, signal: never, path: PROVISIONING_DEFAULTS.path })
  const untilKind = (place: SshHost, kind: Readiness['kind'], tools?: readonly string[]) =>
    until(
      () => check(place, tools),
      (found) => found.kind === kind,
    )

  test('returns ready when the setup has succeeded and every tool is present', async () => {
    const place = await start(['echo hello'])
    expect(await untilKind(place, 'ready', ['sh', 'ls'])).toEqual({ kind: 'ready' })
  })

  test('returns not-yet during the setup', async () => {
    const place = await start(['mkfifo /var/lib/wait', 'cat /var/lib/wait'])
    const deadline = Date.now() + DEADLINE_MS
    let found = await check(place)
    while (found.kind === 'not-yet' && found.reason.startsWith('ssh') && Date.now() < deadline)
      found = await check(place)
    expect(found).toEqual({ kind: 'not-yet', reason: 'it is still setting itself up' })
  })

  test('returns never, with the last output, after a failed setup command', async () => {
    const place = await start(['echo the mirror is down', 'false', 'echo not reached'])
    expect(await untilKind(place, 'never')).toEqual({
      kind: 'never',
      reason: 'its setup commands failed with code 1: the mirror is down',
    })
  })

  test('returns never, with its name, when a declared tool is missing after the setup', async () => {
    const place = await start([])
    const found = await untilKind(place, 'never', ['ls', "no-such'tool; touch /tmp/x"])
    expect(found).toMatchObject({ reason: expect.stringContaining("it lacks no-such'tool; touch /tmp/x:") })
  })

  test('never accepts a machine with another host key', async () => {
    const place = await start([])
    await untilKind(place, 'ready')
    const other = createKeyPair('other').publicKey
    expect(await check({ ...place, hostKey: other })).toMatchObject({
      kind: 'not-yet',
      reason: expect.stringContaining('another host key'),
    })
  })

  test('returns not-yet when the connection or the login is refused', async () => {
    const place = await start([])
    await untilKind(place, 'ready')
    const stranger = createKeyPair('stranger').privateKey
    expect(await check({ ...place, privateKey: stranger })).toMatchObject({
      kind: 'not-yet',
      reason: expect.stringContaining('authentication'),
    })
    expect(await check({ ...place, port: 1 })).toMatchObject({
      kind: 'not-yet',
      reason: expect.stringContaining('ECONNREFUSED'),
    })
  })

  test('ends at its time limit when the machine accepts the login and then hangs', async () => {
    const place = await start([])
    await untilKind(place, 'ready')
    expect(await runOverSsh(place, 'exec sleep 3600', { timeoutMs: 1_000, signal: never })).toEqual({
      kind: 'unreachable',
      reason: 'no answer within 1 s',
    })
  })

  test('ends when the signal aborts', async () => {
    const place = await start([])
    const options = { tools: [], timeoutMs: CHECK_MS, path: PROVISIONING_DEFAULTS.path }
    await expect(
      checkMachine(place, { ...options, signal: AbortSignal.abort(new Error('enough')) }),
    ).rejects.toThrow('enough')
  })
})
