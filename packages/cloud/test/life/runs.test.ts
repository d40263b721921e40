import { mkdir, mkdtemp, readFile, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { collectArtifact, openArtifactStore } from '@scanfarm/artifacts'
import type { RunnerContext, RunnerProvider } from '@scanfarm/contracts'
import { Executor, type RunSource } from '@scanfarm/executor'
import { silentLogger } from '@scanfarm/platform'
import type { RunPlace } from '@scanfarm/store'
import { makeKeyPair } from '../../src/keys.ts'
import { createCloudRunners, type CloudRunnersOptions } from '../../src/runners/cloud-runners.ts'
import { KeyFiles } from '../../src/runners/key-files.ts'
import { openFarm, until, type TestFarm } from './farm.ts'

const ENDED = ['completed', 'failed', 'cancelled']
let farm: TestFarm
let folder: string
beforeAll(async () => {
  farm = await openFarm()
  folder = await mkdtemp(join(tmpdir(), 'cloud-runs-'))
})
afterAll(async () => {
  await farm[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const isReady = ({ status }: { status: string }): boolean => status === 'ready'
const ended = (runId: number) => farm.untilRun(runId, ({ status }) => ENDED.includes(status))
const keyFolder = () => join(folder, 'keys')

const openRunners = (changes: Partial<CloudRunnersOptions> = {}): RunnerProvider =>
  createCloudRunners({
    store: farm.store.cloud,
    providers: farm.providers,
    log: silentLogger,
    keyFolder: keyFolder(),
    connections: { graceMs: 200, attempts: 2 },
    judgeMs: 60_000,
    ...changes,
  })

const startExecutor = (runners: RunnerProvider): Executor => {
  const { runStore } = farm.db
  const source: RunSource = {
    claiming: false,
    async next(workerId, max, signal) {
      const runs = await runStore.claimCloud(workerId, max)
      if (runs.length === 0) await delay(20, undefined, { signal }).catch(() => {})
      return runs
    },
  }
  const executor = new Executor({
    store: runStore,
    source,
    artifacts: openArtifactStore({ kind: 'folder', folder: join(folder, 'store'), fsync: false }),
    collect: collectArtifact,
    runners,
    intro: {
      name: 'cloud slots',
      hostname: 'here',
      pid: process.pid,
      version: '1.0.0',
      kind: 'server',
      slots: 4,
      capabilities: [],
      leaseMs: 30_000,
    },
    folder: farm.cloud.ownFolder,
    log: silentLogger,
    times: { flushMs: 20, cancelPollMs: 50 },
  })
  executor.start()
  return executor
}

describe('Cloud runs', () => {
  test('execute on their machines and bring their files back', async () => {
    const step = {
      name: 'work',
      type: 'bash',
      command: 'pwd; echo from-$SCANFARM_TARGET > {{Output}}/found.txt',
    }
    await using _loops = farm.loops()
    await using runners = openRunners()
    await using _executor = startExecutor(runners)
    const { infraId, runIds } = await farm.submit(3, { instances: 2, autoDestroy: true }, [step])
    for (const [n, runId] of runIds.entries()) {
      expect(await ended(runId)).toMatchObject({ status: 'completed', error_message: '' })
      const kept = join(farm.cloud.ownFolder, 'workspaces', `t${n}.test`, 'found.txt')
      expect(await readFile(kept, 'utf8')).toBe(`from-t${n}.test\n`)
    }
    const places = await Promise.all(runIds.map(async (id) => (await farm.run(id)).cloud_instance))
    expect(new Set(places).size).toBe(2)
    await farm.untilInfra(infraId, ({ status }) => status === 'destroyed')
    expect(farm.cloud.names).toEqual([])
    await until(
      () => keysLeft(),
      (left) => left.length === 0,
    )
  })

  test('move when their machine goes away under them', async () => {
    const command = `[ "$SCANFARM_ATTEMPT" -gt 1 ] || sleep ${sleeper('360001')}; echo done`
    await using _loops = farm.loops({ lookSeconds: 30 })
    await using runners = openRunners()
    await using _executor = startExecutor(runners)
    const { infraId, runIds } = await farm.submit(1, { instances: 2 }, [
      { name: 'work', type: 'bash', command },
    ])
    const [runId = 0] = runIds
    await until(() => alive(sleeper('360001')), Boolean)
    const run = await farm.run(runId)
    await farm.cloud.vanish(run.cloud_instance)
    const end = await ended(runId)
    expect(end).toMatchObject({ status: 'completed' })
    expect(end.cloud_instance).not.toBe(run.cloud_instance)
    await farm.store.cloud.drain(infraId, 'done')
    await farm.untilInfra(infraId, ({ status }) => status === 'destroyed')
  })

  test('end when they are cancelled, with everything that they started', async () => {
    await using _loops = farm.loops()
    await using runners = openRunners()
    await using _executor = startExecutor(runners)
    const steps = [
      { name: 'work', type: 'bash', command: `sleep ${sleeper('360002')} & sleep ${sleeper('360003')}` },
    ]
    const { infraId, runIds } = await farm.submit(1, {}, steps)
    const [runId = 0] = runIds
    await until(() => alive(sleeper('360003')), Boolean)
    await farm.store.runs.requestCancel(String(runId))
    expect(await ended(runId)).toMatchObject({ status: 'cancelled' })
    for (const one of ['360002', '360003'].map(sleeper))
      await until(
        () => alive(one),
        (is) => !is,
      )
    await farm.store.cloud.drain(infraId, 'done')
    await farm.untilInfra(infraId, ({ status }) => status === 'destroyed')
  })

  test('are cancelled when somebody destroys their machines', async () => {
    await using _loops = farm.loops()
    await using runners = openRunners()
    await using _executor = startExecutor(runners)
    const steps = [{ name: 'work', type: 'bash', command: `sleep ${sleeper('360004')}` }]
    const { infraId, runIds } = await farm.submit(2, {}, steps)
    await until(() => alive(sleeper('360004')), Boolean)
    await farm.store.cloud.drain(infraId, 'not wanted any more')
    for (const runId of runIds) expect(await ended(runId)).toMatchObject({ status: 'cancelled' })
    await farm.untilInfra(infraId, ({ status }) => status === 'destroyed')
    await until(
      () => alive(sleeper('360004')),
      (is) => !is,
    )
  })
})

const keysLeft = async (): Promise<string[]> => {
  const entries = await readdir(keyFolder(), { recursive: true, withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name)
}

describe('The runners of cloud runs', () => {
  let place: RunPlace
  let loops: AsyncDisposable
  beforeAll(async () => {
    loops = farm.loops()
    const { infra_id: id } = await farm.request()
    const infra = await farm.untilInfra(id, isReady)
    const [machine] = await farm.cloud.list('the-farm')
    const held = await until(
      () => farm.store.cloud.take('test', 60_000),
      (record) => record?.infraId === id,
    )
    const [instance] = held?.instances ?? []
    if (held === undefined || instance === undefined || machine === undefined) throw new Error('no machine')
    await farm.store.cloud.release(held.no, 'test', 0)
    place = {
      infraNo: held.no,
      instanceNo: instance.no,
      infraId: infra.infra_id,
      provider: 'local',
      resourceId: instance.resourceId,
      address: instance.address,
      port: instance.port,
      sshUser: held.sshUser,
      privateKey: held.privateKey,
      hostKey: instance.hostKey,
    }
  })
  afterAll(async () => {
    await farm.store.cloud.drain(place.infraId, 'done')
    await farm.untilInfra(place.infraId, ({ status }) => status === 'destroyed')
    await loops[Symbol.asyncDispose]()
  })

  let contexts = 0
  const context = (): RunnerContext => {
    contexts += 1
    return {
      runUuid: 'run',
      attempt: 1,
      folder: join(farm.cloud.ownFolder, 'runs', `run-${contexts}`),
      marker: `marker-${process.pid}-${contexts}`,
      signal: new AbortController().signal,
      log: () => {},
    }
  }
  const lost: string[] = []
  const runnersAt = (where: RunPlace | undefined, changes: Partial<CloudRunnersOptions> = {}) =>
    openRunners({
      store: {
        placeOf: async () => where,
        instanceLost: async (_, message) => {
          lost.push(message)
          return { moved: 1 }
        },
      },
      ...changes,
    })
  const opened = async (runners: RunnerProvider) => {
    const own = context()
    await mkdir(own.folder, { recursive: true })
    return await runners.open({ type: 'host' }, own)
  }
  const say = { argv: ['echo', 'hello'], env: { PATH: '/usr/bin:/bin' } }

  test('share connections, and keep the keys closed to others while runs use them', async () => {
    await using runners = runnersAt(place)
    {
      await using one = await opened(runners)
      await using other = await opened(runners)
      expect(one.facts).toMatchObject({ cloud_infra: place.infraId, cloud_machine: place.resourceId })
      const io = { signal: new AbortController().signal }
      const outcomes = await Promise.all([one.run(say, io), other.run(say, io)])
      expect(outcomes).toEqual([
        { kind: 'exited', code: 0 },
        { kind: 'exited', code: 0 },
      ])
      expect(await connectionsTo(place.port)).toBe(1)
      const [own = ''] = await readdir(keyFolder())
      const files = join(keyFolder(), own, place.infraId)
      for (const name of await readdir(files))
        expect((await stat(join(files, name))).mode & 0o777).toBe(0o600)
    }
    expect(await keysLeft()).toEqual([])
  })

  test('never see half a key, however many of them come and go', async () => {
    await using keys = new KeyFiles(keyFolder())
    await using scope = new AsyncDisposableStack()
    const first = await keys.hold(place)
    scope.defer(() => first.release())
    const visit = async (): Promise<string> => {
      const held = await keys.hold(place)
      const seen = await readFile(held.keyFile, 'utf8')
      await held.release()
      return seen
    }
    const seen = await Promise.all(Array.from({ length: 100 }, visit))
    expect(new Set(seen)).toEqual(new Set([place.privateKey]))
  })

  test('never talk to a machine that shows another host key', async () => {
    const hostKey = makeKeyPair('other').publicKey
    await using runners = runnersAt({ ...place, sshUser: 'root', hostKey }, { judgeMs: 300 })
    await expect(opened(runners)).rejects.toThrow(/shows another key/)
    expect(lost).toEqual([])
    expect(await keysLeft()).toEqual([])
  })

  test('refuse docker steps, and ssh steps where there are none', async () => {
    await using runners = runnersAt(place)
    await expect(runners.open({ type: 'docker', image: 'any' }, context())).rejects.toThrow(
      'cloud runs work on their machine itself',
    )
    await expect(runners.open({ type: 'ssh', host: 'elsewhere' }, context())).rejects.toThrow(
      'ssh commands are switched off here',
    )
  })

  test('say so when the run has no machine any more', async () => {
    await using runners = runnersAt(undefined)
    await expect(opened(runners)).rejects.toThrow('the run has no machine any more')
  })

  test('report a machine that is gone when a run comes to it', async () => {
    lost.length = 0
    await using runners = runnersAt({ ...place, resourceId: 'unknown', port: 1 })
    await expect(opened(runners)).rejects.toThrow('the machine of the run is gone')
    expect(lost).toEqual(['the provider does not have it any more'])
  })

  test('blame nobody for a machine that is there and does not answer', async () => {
    lost.length = 0
    await using runners = runnersAt({ ...place, port: 1 }, { judgeMs: 300 })
    await expect(opened(runners)).rejects.toThrow('does not answer')
    expect(lost).toEqual([])
  })
})

/** Seconds to sleep, which no other process of this machine does: not one that an earlier run of the tests left. */
const sleeper = (seconds: string): string => `${seconds}.${process.pid}`

/** Whether a process anywhere on this machine, other machines on it included, has the word in its command line. */
async function alive(word: string): Promise<boolean> {
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const line = await readFile(`/proc/${name}/cmdline`, 'latin1').catch(() => '')
    if (line.split('\0').includes(word)) return true
  }
  return false
}

/** Established connections to a port of this machine, seen from the server's side. */
async function connectionsTo(port: number): Promise<number> {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const lines = (await readFile('/proc/net/tcp', 'utf8')).split('\n').map((line) => line.trim().split(/\s+/))
  return lines.filter(([, local, , state]) => local?.endsWith(wanted) && state === '01').length
}
