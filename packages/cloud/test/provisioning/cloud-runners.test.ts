// long
import { mkdir, mkdtemp, readFile, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { collectArtifact, openArtifactStore } from '@scanfarm/artifacts'
import type { RunnerContext, RunnerProvider } from '@scanfarm/contracts'
import { Executor, type RunSource } from '@scanfarm/worker'
import { silentLogger } from '@scanfarm/platform'
import type { RunMachine } from '@scanfarm/store'
import { alive, until } from '@scanfarm/testing'
import { createKeyPair } from '../../src/machine/ssh-keys.ts'
import { createCloudRunners, type CloudRunnersOptions } from '../../src/runners/cloud-runners.ts'
import { KeyFiles } from '../../src/runners/key-files.ts'
import { openTestCluster, type TestCluster } from './test-cluster.ts'

const ENDED = ['completed', 'failed', 'cancelled']
let cluster: TestCluster
let folder: string
beforeAll(async () => {
  cluster = await openTestCluster()
  folder = await mkdtemp(join(tmpdir(), 'cloud-runs-'))
})
afterAll(async () => {
  await cluster[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const isReady = ({ status }: { status: string }): boolean => status === 'ready'
const ended = (runId: number) => cluster.untilRun(runId, ({ status }) => ENDED.includes(status))
const keyFolder = () => join(folder, 'keys')

const openRunners = (changes: Partial<CloudRunnersOptions> = {}): RunnerProvider =>
  createCloudRunners({
    store: cluster.store.cloud,
    providers: cluster.providers,
    log: silentLogger,
    keyFolder: keyFolder(),
    connections: { graceMs: 200, attempts: 2 },
    diagnoseMs: 60_000,
    ...changes,
  })

const startExecutor = (runners: RunnerProvider): Executor => {
  const { runStore } = cluster.db
  const source: RunSource = {
    claiming: false,
    async next(workerId, capacity, signal) {
      const runs = await runStore.claimCloud(workerId, capacity())
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
    folder: cluster.cloud.ownFolder,
    log: silentLogger,
    times: { flushMs: 20, cancelPollMs: 50 },
  })
  executor.start()
  return executor
}

describe('Cloud runs', () => {
  test('execute on their machines and transfer their files back', async () => {
    const step = {
      name: 'work',
      type: 'bash',
      command: 'pwd; echo from-$SCANFARM_TARGET > {{Output}}/found.txt',
    }
    await using _loops = cluster.loops()
    await using runners = openRunners()
    await using _executor = startExecutor(runners)
    const { infraId, runIds } = await cluster.submit(3, { instances: 2, autoDestroy: true }, [step])
    for (const [n, runId] of runIds.entries()) {
      expect(await ended(runId)).toMatchObject({ status: 'completed', error_message: '' })
      const kept = join(cluster.cloud.ownFolder, 'workspaces', `t${n}.test`, 'found.txt')
      expect(await readFile(kept, 'utf8')).toBe(`from-t${n}.test\n`)
    }
    const places = await Promise.all(runIds.map(async (id) => (await cluster.run(id)).cloud_instance))
    expect(new Set(places).size).toBe(2)
    await cluster.untilInfra(infraId, ({ status }) => status === 'destroyed')
    expect(cluster.cloud.names).toEqual([])
    await until(
      () => keysLeft(),
      (left) => left.length === 0,
    )
  })

  test('are queued again when their machine disappears', async () => {
    const command = `[ "$SCANFARM_ATTEMPT" -gt 1 ] || sleep ${sleeper('360001')}; echo done`
    await using _loops = cluster.loops({ reconcileSeconds: 30 })
    await using runners = openRunners()
    await using _executor = startExecutor(runners)
    const { infraId, runIds } = await cluster.submit(1, { instances: 2 }, [
      { name: 'work', type: 'bash', command },
    ])
    const [runId = 0] = runIds
    await until(() => alive(sleeper('360001')).length > 0)
    const run = await cluster.run(runId)
    await cluster.cloud.vanish(run.cloud_instance)
    const end = await ended(runId)
    expect(end).toMatchObject({ status: 'completed' })
    expect(end.cloud_instance).not.toBe(run.cloud_instance)
    await cluster.store.cloud.drain(infraId, 'done')
    await cluster.untilInfra(infraId, ({ status }) => status === 'destroyed')
  })

  test('end with all their processes when they are cancelled', async () => {
    await using _loops = cluster.loops()
    await using runners = openRunners()
    await using _executor = startExecutor(runners)
    const steps = [
      { name: 'work', type: 'bash', command: `sleep ${sleeper('360002')} & sleep ${sleeper('360003')}` },
    ]
    const { infraId, runIds } = await cluster.submit(1, {}, steps)
    const [runId = 0] = runIds
    await until(() => alive(sleeper('360003')).length > 0)
    await cluster.store.runs.requestCancel(String(runId))
    expect(await ended(runId)).toMatchObject({ status: 'cancelled' })
    for (const one of ['360002', '360003'].map(sleeper)) await until(() => alive(one).length === 0)
    await cluster.store.cloud.drain(infraId, 'done')
    await cluster.untilInfra(infraId, ({ status }) => status === 'destroyed')
  })

  test('are cancelled when their infrastructure is destroyed', async () => {
    await using _loops = cluster.loops()
    await using runners = openRunners()
    await using _executor = startExecutor(runners)
    const steps = [{ name: 'work', type: 'bash', command: `sleep ${sleeper('360004')}` }]
    const { infraId, runIds } = await cluster.submit(2, {}, steps)
    await until(() => alive(sleeper('360004')).length > 0)
    await cluster.store.cloud.drain(infraId, 'not wanted any more')
    for (const runId of runIds) expect(await ended(runId)).toMatchObject({ status: 'cancelled' })
    await cluster.untilInfra(infraId, ({ status }) => status === 'destroyed')
    await until(() => alive(sleeper('360004')).length === 0)
  })
})

const keysLeft = async (): Promise<string[]> => {
  const entries = await readdir(keyFolder(), { recursive: true, withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name)
}

describe('The runners of cloud runs', () => {
  let place: RunMachine
  let loops: AsyncDisposable
  beforeAll(async () => {
    loops = cluster.loops()
    const { infra_id: id } = await cluster.request()
    const infra = await cluster.untilInfra(id, isReady)
    const [machine] = await cluster.cloud.list('the-farm')
    const held = await until(
      () => cluster.store.cloud.acquire('test', 60_000),
      (record) => record?.infraId === id,
    )
    const [instance] = held?.instances ?? []
    if (held === undefined || instance === undefined || machine === undefined) throw new Error('no machine')
    await cluster.store.cloud.release(held.no, 'test', 0)
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
    await cluster.store.cloud.drain(place.infraId, 'done')
    await cluster.untilInfra(place.infraId, ({ status }) => status === 'destroyed')
    await loops[Symbol.asyncDispose]()
  })

  let contexts = 0
  const context = (): RunnerContext => {
    contexts += 1
    return {
      runUuid: 'run',
      attempt: 1,
      folder: join(cluster.cloud.ownFolder, 'runs', `run-${contexts}`),
      marker: `marker-${process.pid}-${contexts}`,
      signal: new AbortController().signal,
      log: () => {},
    }
  }
  const lost: string[] = []
  const runnersAt = (where: RunMachine | undefined, changes: Partial<CloudRunnersOptions> = {}) =>
    openRunners({
      store: {
        machineOfRun: async () => where,
        loseInstance: async (_, message) => {
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

  test('share connections, and protect the key files from other users', async () => {
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
      // A connection that was made before to see whether the machine is ready may still be closing.
      await until(
        () => connectionsTo(place.port),
        (open) => open === 1,
      )
      const [own = ''] = await readdir(keyFolder())
      const files = join(keyFolder(), own, place.infraId)
      for (const name of await readdir(files))
        expect((await stat(join(files, name))).mode & 0o777).toBe(0o600)
    }
    expect(await keysLeft()).toEqual([])
  })

  test('never read a partial key file when many are opened and closed', async () => {
    await using keys = new KeyFiles(keyFolder())
    await using scope = new AsyncDisposableStack()
    const first = await keys.acquire(place)
    scope.defer(() => first.release())
    const visit = async (): Promise<string> => {
      const leased = await keys.acquire(place)
      const seen = await readFile(leased.keyFile, 'utf8')
      await leased.release()
      return seen
    }
    const seen = await Promise.all(Array.from({ length: 100 }, visit))
    expect(new Set(seen)).toEqual(new Set([place.privateKey]))
  })

  test('never connect to a machine with another host key', async () => {
    const hostKey = createKeyPair('other').publicKey
    await using runners = runnersAt({ ...place, sshUser: 'root', hostKey }, { diagnoseMs: 300 })
    await expect(opened(runners)).rejects.toThrow(/shows another key/)
    expect(lost).toEqual([])
    expect(await keysLeft()).toEqual([])
  })

  test('refuse docker steps, and ssh steps unless they are configured', async () => {
    await using runners = runnersAt(place)
    await expect(runners.open({ type: 'docker', image: 'any' }, context())).rejects.toThrow(
      'cloud runs execute on the machine itself',
    )
    await expect(runners.open({ type: 'ssh', host: 'elsewhere' }, context())).rejects.toThrow(
      'ssh steps are not available in cloud runs of this server',
    )
  })

  test('refuse a run that no longer has a machine', async () => {
    await using runners = runnersAt(undefined)
    await expect(opened(runners)).rejects.toThrow('the run has no machine any more')
  })

  test('report a machine that is gone when a run is opened', async () => {
    lost.length = 0
    await using runners = runnersAt({ ...place, resourceId: 'unknown', port: 1 })
    await expect(opened(runners)).rejects.toThrow('the machine of the run is gone')
    expect(lost).toEqual(['the provider does not have it any more'])
  })

  test('do not report a machine that exists but does not respond', async () => {
    lost.length = 0
    await using runners = runnersAt({ ...place, port: 1 }, { diagnoseMs: 300 })
    await expect(opened(runners)).rejects.toThrow('does not respond')
    expect(lost).toEqual([])
  })
})

/** Seconds to sleep, a number that no other process of this host has in its command line. */
const sleeper = (seconds: string): string => `${seconds}.${process.pid}`

/** Established connections to a port of this host, seen from the server's side. */
async function connectionsTo(port: number): Promise<number> {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const lines = (await readFile('/proc/net/tcp', 'utf8')).split('\n').map((line) => line.trim().split(/\s+/))
  return lines.filter(([, local, , state]) => local?.endsWith(wanted) && state === '01').length
}
