import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals'
import { TEST_IMAGE, useEngine, type TestEngine } from '@scanfarm/runners/testing'
import { makeKeyPair } from '../../../src/keys.ts'
import type { CloudProvider } from '../../../src/provider.ts'
import { createLocalProvider } from '../../../src/providers/local/index.ts'
import { findPrograms } from '../../../src/providers/local/image-files.ts'
import { described, running, TestFarm } from './farm.ts'

// Needs a docker engine (SCANFARM_TEST_DOCKER, else it starts one), sshd and ssh (SCANFARM_TEST_SSHD).

const exec = promisify(execFile)
const FARM = `farm-${crypto.randomUUID()}`
const OTHER_FARM = `farm-${crypto.randomUUID()}`
const MIB = 2 ** 20
jest.setTimeout(180_000)

describe('the local provider', () => {
  let engine: TestEngine
  let provider: CloudProvider
  let farm: TestFarm
  let otherFarm: TestFarm
  const signal = (): AbortSignal => AbortSignal.timeout(60_000)

  beforeAll(async () => {
    engine = await useEngine()
    farm = await TestFarm.open(FARM)
    otherFarm = await TestFarm.open(OTHER_FARM)
    provider = open()
    // The first one takes its time: it makes the image.
    const { id } = await provider.create(farm.request('first'), signal())
    await provider.destroy(id, signal())
  }, 300_000)
  afterEach(async () => {
    for (const each of [FARM, OTHER_FARM])
      for (const { id } of await provider.list(each, signal())) await provider.destroy(id, signal())
  })
  afterAll(async () => {
    await provider?.[Symbol.asyncDispose]()
    await farm?.[Symbol.asyncDispose]()
    await otherFarm?.[Symbol.asyncDispose]()
    await engine?.[Symbol.asyncDispose]()
  })

  const open = (image?: string): CloudProvider => createLocalProvider({ dockerSocket: engine.address, image })
  const docker = async (...args: string[]): Promise<string> =>
    (await exec('docker', ['--host', engine.address, ...args])).stdout.trim()

  describe('makes a machine', () => {
    test('that lets the farm in, runs its commands, and is gone when it is destroyed', async () => {
      const made = await provider.create(farm.request('life'), signal())
      expect(made).toMatchObject({
        name: 'life',
        labels: { farm: FARM, infra: '0123456789abcdef', expires: 1_900_000_000 },
      })
      const machine = await running(provider, made.id)
      expect(await farm.settled(machine, ['bash', 'grep', 'sed'])).toEqual({ kind: 'ready' })
      const said = await farm.ssh(machine, 'id -un; echo "$HOME $SHELL"; touch mine && ls; hostname')
      expect(said).toEqual({ code: 0, stdout: 'scan\n/home/scan /bin/bash\nmine\nlife\n', stderr: '' })

      expect(await docker('ps', '-aq', '--filter', `label=scanfarm.farm=${FARM}`)).not.toBe('')
      await provider.destroy(made.id, signal())
      expect(await provider.describe(made.id, signal())).toBeUndefined()
      expect(await provider.list(FARM, signal())).toEqual([])
      expect(await docker('ps', '-aq', '--filter', `label=scanfarm.farm=${FARM}`)).toBe('')
      await provider.destroy(made.id, signal())
    })

    test('that shows the host key it was given, and takes one key and no password', async () => {
      const made = await provider.create(farm.request('keys'), signal())
      const machine = await running(provider, made.id)
      expect(await farm.settled(machine)).toEqual({ kind: 'ready' })
      const stranger = makeKeyPair('stranger')
      const otherKey = await farm.ssh(machine, 'true', { key: stranger.privateKey })
      expect(otherKey).toMatchObject({ code: 255, stderr: expect.stringContaining('(publickey)') })
      const password = await farm.ssh(machine, 'true', { options: ['PreferredAuthentications=password'] })
      expect(password).toMatchObject({ code: 255, stderr: expect.stringContaining('(publickey)') })
      const otherHost = await farm.ssh(machine, 'true', { hostKey: stranger.publicKey })
      expect(otherHost).toMatchObject({
        code: 255,
        stderr: expect.stringContaining('Host key verification failed'),
      })
    })

    test('whose user can become nobody else and take no more than its share', async () => {
      const { id } = await provider.create(farm.request('share', {}, { type: 'medium' }), signal())
      const machine = await running(provider, id)
      await farm.settled(machine)
      const { stdout } = await farm.ssh(
        machine,
        'grep NoNewPrivs /proc/self/status; touch /etc/mine 2>&1; ls /var/lib/scanfarm-boot 2>&1; cat /etc/ssh/ssh_host_ed25519_key 2>&1',
      )
      expect(stdout).toMatch(
        /NoNewPrivs:\s+1\n.*Permission denied\n.*Permission denied\n.*Permission denied\n/,
      )
      const format = '{{.HostConfig.Memory}} {{.HostConfig.PidsLimit}} {{.HostConfig.Privileged}}'
      expect(await docker('inspect', '--format', format, id)).toBe(`${1024 * MIB} 1024 false`)
    })

    test('that counts as ready when its setup commands have ended', async () => {
      const commands = ['sleep 1', 'id -u > /etc/made-by', `printf '%s\\n' "it's" > /etc/word`]
      const { id } = await provider.create(farm.request('setup', { commands }), signal())
      const machine = await running(provider, id)
      expect(await farm.settled(machine)).toEqual({ kind: 'ready' })
      expect(await farm.ssh(machine, 'cat /etc/made-by /etc/word')).toMatchObject({ stdout: "0\nit's\n" })
    })

    test('that tells what its setup commands said when they fail', async () => {
      const commands = ['echo no such mirror >&2', 'exit 7']
      const { id } = await provider.create(farm.request('broken', { commands }), signal())
      expect(await farm.settled(await running(provider, id))).toEqual({
        kind: 'never',
        reason: 'its setup commands failed with code 7: no such mirror',
      })
    })

    test('that has the programs of this system and no others', async () => {
      const { id } = await provider.create(farm.request('tools', { tools: ['no-such-tool'] }), signal())
      const machine = await running(provider, id)
      expect(await farm.settled(machine, ['bash', 'no-such-tool'])).toMatchObject({
        kind: 'never',
        reason: expect.stringContaining('it lacks no-such-tool'),
      })
    })
  })

  test('makes image and network anew when somebody has removed them', async () => {
    await using other = open()
    const { id } = await other.create(farm.request('before'), signal())
    const image = await docker('inspect', '--format', '{{.Image}}', id)
    for (const each of await provider.list(FARM, signal())) await provider.destroy(each.id, signal())
    // Where others use them they stay.
    await docker('network', 'rm', 'scanfarm-machines').catch(() => '')
    const machine = await other.create(farm.request('after'), signal())
    await other.destroy(machine.id, signal())
    await docker('rmi', '--force', image).catch(() => '')
    expect((await other.create(farm.request('last'), signal())).state).toBe('running')
  })

  describe('knows machines', () => {
    test('by farm, though two farms give the same name', async () => {
      const one = await provider.create(farm.request('same'), signal())
      const other = await provider.create(otherFarm.request('same'), signal())
      expect(one.id).not.toBe(other.id)
      expect(await provider.list(FARM, signal())).toMatchObject([{ id: one.id, labels: { farm: FARM } }])
      expect(await provider.list(OTHER_FARM, signal())).toMatchObject([{ id: other.id }])
      await provider.destroy(one.id, signal())
      expect(await provider.list(OTHER_FARM, signal())).toMatchObject([{ id: other.id, state: 'running' }])
    })

    test('by name: asked for twice, at once or later, it is one', async () => {
      const request = farm.request('twice')
      const both = await Promise.all([provider.create(request, signal()), open().create(request, signal())])
      const third = await open().create(request, signal())
      expect(new Set([...both, third].map(({ id }) => id)).size).toBe(1)
      expect(await provider.list(FARM, signal())).toHaveLength(1)
    })

    test('that were taken away, and says so', async () => {
      const { id } = await provider.create(farm.request('taken', {}, { spot: true }), signal())
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

    test('and none that there never were', async () => {
      expect(await provider.describe('0'.repeat(64), signal())).toBeUndefined()
      await provider.destroy('0'.repeat(64), signal())
      expect(await provider.price({ region: 'local', type: 'small', spot: true }, signal())).toBe(0)
      expect(await provider.price({ region: 'local', type: 'huge', spot: true }, signal())).toBeUndefined()
    })
  })

  describe('says what is wrong', () => {
    const refusal = (message: string) => ({ problem: 'refused', message: expect.stringContaining(message) })

    test('with a type, a region or user data that there cannot be', async () => {
      const asks = (over: object) => provider.create(farm.request('wrong', {}, over), signal())
      await expect(asks({ type: 'huge' })).rejects.toMatchObject(refusal('it has small, medium, large'))
      await expect(asks({ region: 'mars' })).rejects.toMatchObject(refusal('no region mars'))
      await expect(asks({ userData: 'hello' })).rejects.toMatchObject(refusal('#cloud-config'))
      await expect(asks({ userData: '#cloud-config\ndisk_setup: {}\n' })).rejects.toMatchObject(
        refusal('does not understand disk_setup'),
      )
      await expect(asks({ userData: '#cloud-config\nusers: [{ name: "a b" }]\n' })).rejects.toMatchObject(
        refusal('"a b" is no name of a user'),
      )
      expect(await provider.list(FARM, signal())).toEqual([])
    })

    test('with an image that is nowhere', async () => {
      await using other = open('127.0.0.1:1/no/such:image')
      await other.check(signal())
      await expect(other.create(farm.request('nowhere'), signal())).rejects.toMatchObject(
        refusal('the image 127.0.0.1:1/no/such:image is not on the engine and could not be pulled'),
      )
    })

    test('with an image without sshd', async () => {
      await using other = open(TEST_IMAGE)
      const { id } = await other.create(farm.request('no-sshd'), signal())
      const ended = await described(other, id, ({ state }) => state === 'stopping')
      expect(ended.message).toMatch(/the container is exited \(code 127\).*there is no sshd in the image/)
    })

    test('without an engine', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'scanfarm-no-engine-'))
      await using other = createLocalProvider(
        { dockerSocket: join(folder, 'docker.sock'), image: undefined },
        { firstWaitMs: 1 },
      )
      await expect(other.check(signal())).rejects.toMatchObject({
        problem: 'unavailable',
        message: expect.stringContaining('is the engine installed and running?'),
      })
      await rm(folder, { recursive: true })
    })

    test('without sshd on this system', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'scanfarm-no-sshd-'))
      await expect(findPrograms([folder, '/bin'])).rejects.toMatchObject(refusal('there is no sshd: install'))
      await rm(folder, { recursive: true })
    })
  })
})
