// exclusive: docker
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals'
import { TEST_IMAGE, useEngine, type TestEngine } from '@scanfarm/runners/testing'
import { createKeyPair } from '../../../src/machine/ssh-keys.ts'
import type { CloudProvider } from '../../../src/provider.ts'
import { createLocalProvider } from '../../../src/providers/local/index.ts'
import { findPrograms } from '../../../src/providers/local/image-files.ts'
import { described, running, LocalHarness } from './harness.ts'

// Needs a docker engine (SCANFARM_TEST_DOCKER, otherwise it starts one), sshd and ssh (SCANFARM_TEST_SSHD).

const exec = promisify(execFile)
const FARM = `farm-${crypto.randomUUID()}`
const OTHER_FARM = `farm-${crypto.randomUUID()}`
const MIB = 2 ** 20
jest.setTimeout(180_000)

describe('the local provider', () => {
  let engine: TestEngine
  let provider: CloudProvider
  let harness: LocalHarness
  let otherFarm: LocalHarness
  const signal = (): AbortSignal => AbortSignal.timeout(60_000)

  beforeAll(async () => {
    engine = await useEngine()
    harness = await LocalHarness.open(FARM)
    otherFarm = await LocalHarness.open(OTHER_FARM)
    provider = await open()
    // The first machine builds the image.
    const { id } = await provider.create(harness.request('first'), signal())
    await provider.destroy(id, signal())
  }, 300_000)
  afterEach(async () => {
    for (const each of [FARM, OTHER_FARM])
      for (const { id } of await provider.list(each, signal())) await provider.destroy(id, signal())
  })
  afterAll(async () => {
    await provider?.[Symbol.asyncDispose]()
    await harness?.[Symbol.asyncDispose]()
    await otherFarm?.[Symbol.asyncDispose]()
    await engine?.[Symbol.asyncDispose]()
  })

  const open = (image?: string): Promise<CloudProvider> =>
    createLocalProvider({ dockerSocket: engine.address, image })
  const docker = async (...args: string[]): Promise<string> =>
    (await exec('docker', ['--host', engine.address, ...args])).stdout.trim()

  describe('A local machine', () => {
    test('accepts ssh, runs commands, and is gone after it is destroyed', async () => {
      const made = await provider.create(harness.request('life'), signal())
      expect(made).toMatchObject({
        name: 'life',
        labels: { farm: FARM, infra: '0123456789abcdef', expires: 1_900_000_000 },
      })
      const machine = await running(provider, made.id)
      expect(await harness.settled(machine, ['bash', 'grep', 'sed'])).toEqual({ kind: 'ready' })
      const said = await harness.ssh(machine, 'id -un; echo "$HOME $SHELL"; touch mine && ls; hostname')
      expect(said).toEqual({ code: 0, stdout: 'scan\n/home/scan /bin/bash\nmine\nlife\n', stderr: '' })

      expect(await docker('ps', '-aq', '--filter', `label=scanfarm.farm=${FARM}`)).not.toBe('')
      await provider.destroy(made.id, signal())
      expect(await provider.describe(made.id, signal())).toBeUndefined()
      expect(await provider.list(FARM, signal())).toEqual([])
      expect(await docker('ps', '-aq', '--filter', `label=scanfarm.farm=${FARM}`)).toBe('')
      await provider.destroy(made.id, signal())
    })

    test('presents the host key of its user data, and accepts one key and no password', async () => {
      const made = await provider.create(harness.request('keys'), signal())
      const machine = await running(provider, made.id)
      expect(await harness.settled(machine)).toEqual({ kind: 'ready' })
      const stranger = createKeyPair('stranger')
      const otherKey = await harness.ssh(machine, 'true', { key: stranger.privateKey })
      expect(otherKey).toMatchObject({ code: 255, stderr: expect.stringContaining('(publickey)') })
      const password = await harness.ssh(machine, 'true', { options: ['PreferredAuthentications=password'] })
      expect(password).toMatchObject({ code: 255, stderr: expect.stringContaining('(publickey)') })
      const otherHost = await harness.ssh(machine, 'true', { hostKey: stranger.publicKey })
      expect(otherHost).toMatchObject({
        code: 255,
        stderr: expect.stringContaining('Host key verification failed'),
      })
    })

    test('confines its user to its own account and to its share of CPU and memory', async () => {
      const { id } = await provider.create(harness.request('share', {}, { type: 'medium' }), signal())
      const machine = await running(provider, id)
      await harness.settled(machine)
      const { stdout } = await harness.ssh(
        machine,
        'grep NoNewPrivs /proc/self/status; touch /etc/mine 2>&1; ls /var/lib/scanfarm-boot 2>&1; cat /etc/ssh/ssh_host_ed25519_key 2>&1',
      )
      expect(stdout).toMatch(
        /NoNewPrivs:\s+1\n.*Permission denied\n.*Permission denied\n.*Permission denied\n/,
      )
      const format = '{{.HostConfig.Memory}} {{.HostConfig.PidsLimit}} {{.HostConfig.Privileged}}'
      expect(await docker('inspect', '--format', format, id)).toBe(`${1024 * MIB} 1024 false`)
    })

    test('is ready when its setup commands have ended', async () => {
      const commands = ['sleep 1', 'id -u > /etc/made-by', `printf '%s\\n' "it's" > /etc/word`]
      const { id } = await provider.create(harness.request('setup', { commands }), signal())
      const machine = await running(provider, id)
      expect(await harness.settled(machine)).toEqual({ kind: 'ready' })
      expect(await harness.ssh(machine, 'cat /etc/made-by /etc/word')).toMatchObject({ stdout: "0\nit's\n" })
    })

    test('reports the output of failed setup commands', async () => {
      const commands = ['echo no such mirror >&2', 'exit 7']
      const { id } = await provider.create(harness.request('broken', { commands }), signal())
      expect(await harness.settled(await running(provider, id))).toEqual({
        kind: 'never',
        reason: 'its setup commands failed with code 7: no such mirror',
      })
    })

    test('has the programs of this system and no others', async () => {
      const { id } = await provider.create(harness.request('tools', { tools: ['no-such-tool'] }), signal())
      const machine = await running(provider, id)
      expect(await harness.settled(machine, ['bash', 'no-such-tool'])).toMatchObject({
        kind: 'never',
        reason: expect.stringContaining('it lacks no-such-tool'),
      })
    })
  })

  test('creates image and network again after they were removed', async () => {
    await using other = await open()
    const { id } = await other.create(harness.request('before'), signal())
    const image = await docker('inspect', '--format', '{{.Image}}', id)
    for (const each of await provider.list(FARM, signal())) await provider.destroy(each.id, signal())
    // They are not removed while others use them.
    await docker('network', 'rm', 'scanfarm-machines').catch(() => '')
    const machine = await other.create(harness.request('after'), signal())
    await other.destroy(machine.id, signal())
    await docker('rmi', '--force', image).catch(() => '')
    expect((await other.create(harness.request('last'), signal())).state).toBe('running')
  })

  describe('The list of local machines', () => {
    test('separates farms that use the same machine name', async () => {
      const one = await provider.create(harness.request('same'), signal())
      const other = await provider.create(otherFarm.request('same'), signal())
      expect(one.id).not.toBe(other.id)
      expect(await provider.list(FARM, signal())).toMatchObject([{ id: one.id, labels: { farm: FARM } }])
      expect(await provider.list(OTHER_FARM, signal())).toMatchObject([{ id: other.id }])
      await provider.destroy(one.id, signal())
      expect(await provider.list(OTHER_FARM, signal())).toMatchObject([{ id: other.id, state: 'running' }])
    })

    test('has one machine after two create calls with one name, concurrent or not', async () => {
      const request = harness.request('twice')
      const both = await Promise.all([
        provider.create(request, signal()),
        (await open()).create(request, signal()),
      ])
      const third = await (await open()).create(request, signal())
      expect(new Set([...both, third].map(({ id }) => id)).size).toBe(1)
      expect(await provider.list(FARM, signal())).toHaveLength(1)
    })

    test('reports stopped and removed machines', async () => {
      const { id } = await provider.create(harness.request('taken', {}, { spot: true }), signal())
      await running(provider, id)
      await docker('stop', '--time', '0', id)
      const stopped = await described(provider, id, ({ state }) => state === 'stopping')
      expect(stopped).toMatchObject({
        address: undefined,
        message: expect.stringContaining('the container is exited'),
      })
      expect(await provider.list(FARM, signal())).toMatchObject([{ id, state: 'stopping' }])
      await docker('rm', id)
      expect(await provider.describe(id, signal())).toBeUndefined()
    })

    test('does not contain unknown machines', async () => {
      expect(await provider.describe('0'.repeat(64), signal())).toBeUndefined()
      await provider.destroy('0'.repeat(64), signal())
      expect(await provider.price({ region: 'local', type: 'small', spot: true }, signal())).toBe(0)
      expect(await provider.price({ region: 'local', type: 'huge', spot: true }, signal())).toBeUndefined()
    })
  })

  describe('The local provider refuses', () => {
    const refusal = (message: string) => ({ problem: 'refused', message: expect.stringContaining(message) })

    test('an unknown type or region and invalid user data', async () => {
      const asks = (over: object) => provider.create(harness.request('wrong', {}, over), signal())
      await expect(asks({ type: 'huge' })).rejects.toMatchObject(
        refusal('expected one of small, medium, large'),
      )
      await expect(asks({ region: 'mars' })).rejects.toMatchObject(refusal('no region mars'))
      await expect(asks({ userData: 'hello' })).rejects.toMatchObject(refusal('#cloud-config'))
      const { userData } = harness.request('wrong')
      await expect(asks({ userData: `${userData}disk_setup: {}\n` })).rejects.toMatchObject(
        refusal('disk_setup: is not a known field'),
      )
      await expect(asks({ userData: userData.replace('name: scan', 'name: a b') })).rejects.toMatchObject(
        refusal('users/0/name: '),
      )
      expect(await provider.list(FARM, signal())).toEqual([])
    })

    test('an image that cannot be pulled', async () => {
      await using other = await open('127.0.0.1:1/no/such:image')
      await other.check(signal())
      await expect(other.create(harness.request('nowhere'), signal())).rejects.toMatchObject(
        refusal('the image 127.0.0.1:1/no/such:image is not on the engine and cannot be pulled'),
      )
    })

    test('an image without sshd', async () => {
      await using other = await open(TEST_IMAGE)
      const { id } = await other.create(harness.request('no-sshd'), signal())
      const ended = await described(other, id, ({ state }) => state === 'stopping')
      expect(ended.message).toMatch(/the container is exited \(code 127\).*there is no sshd in the image/)
    })

    test('to work without an engine', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'scanfarm-no-engine-'))
      await using other = await createLocalProvider(
        { dockerSocket: join(folder, 'docker.sock'), image: undefined },
        { firstWaitMs: 1 },
      )
      await expect(other.check(signal())).rejects.toMatchObject({
        problem: 'unavailable',
        message: expect.stringContaining('is the engine installed and running?'),
      })
      await rm(folder, { recursive: true })
    })

    test('to build an image without sshd on this system', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'scanfarm-no-sshd-'))
      await expect(findPrograms([folder, '/bin'])).rejects.toMatchObject(refusal('sshd is missing: install'))
      await rm(folder, { recursive: true })
    })
  })
})
