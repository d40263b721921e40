// exclusive: docker
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { access, mkdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import { openArtifactStore } from '@scanfarm/artifacts'
import { attemptPrefix, liveBlockKey } from '@scanfarm/contracts'
import { silentLogger } from '@scanfarm/platform'
import { startSshServer, TEST_IMAGE, useEngine, type TestEngine } from '@scanfarm/runners/testing'
import type { JobDraft } from '@scanfarm/store'
import { startWorker, type RunningWorker } from '@scanfarm/worker'
import { until } from '@scanfarm/testing'
import { openTestCluster, type TestCluster } from '../harness/workers.ts'
import { TEST_MS, freshName, pinned } from '../harness/runs.ts'

jest.setTimeout(TEST_MS)

const exec = promisify(execFile)
const overrides = { log: silentLogger }

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

let cluster: TestCluster
let engine: TestEngine
beforeAll(async () => {
  engine = await useEngine()
  cluster = await openTestCluster()
})
afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]()
  await engine?.[Symbol.asyncDispose]()
})

const docker = async (...args: string[]): Promise<string> =>
  (await exec('docker', ['--host', engine.address, ...args])).stdout.trim()
const containersOf = (runUuid: string): Promise<string> =>
  docker('ps', '--all', '--quiet', '--filter', `label=scanfarm.run=${runUuid}`)
const dockerWorker = (): Promise<RunningWorker> =>
  startWorker(
    cluster.config({
      SCANFARM_RUNNER_DOCKER_HOST: engine.address,
      SCANFARM_RUNNER_PATH: '/folder/of/the/worker',
    }),
    overrides,
  )
/** The live copy of the output of the first step of a run, once there is some. */
const liveOutput = async (runId: number): Promise<string> => {
  const { run_uuid: uuid, attempt } = await cluster.until(runId, ({ status }) => status === 'running')
  await cluster.store.runs.followLogs([runId], TEST_MS)
  await using store = openArtifactStore({ kind: 'folder', folder: cluster.config().artifacts.folder })
  const found = await until(() => store.get(liveBlockKey(attemptPrefix(uuid, attempt), 1, 0)), {
    what: 'the live output',
  })
  return await text(found.body)
}
const TALK = [{ name: 'talk', type: 'bash', command: 'echo first; sleep 300' }]
const inDocker: Partial<JobDraft> = { runnerType: 'docker', runnerGiven: true, requirementClass: 'docker' }

describe('Docker runs', () => {
  let worker: RunningWorker
  test('wait with their needs until a worker with a docker engine joins', async () => {
    await using _plain = await startWorker(
      cluster.config({ SCANFARM_RUNNER_DOCKER_HOST: 'unix:///nonexistent/docker.sock' }),
      overrides,
    )
    const steps = [{ name: 'where', command: 'echo $IMAGE_VARIABLE; echo $PATH' }]
    const [runId = 0] = await cluster.submit(steps, [freshName()], { ...inDocker, dockerImage: TEST_IMAGE })
    await cluster.until(runId, (run) => run.waiting_reason === 'no live worker offers: docker')
    worker = await dockerWorker()
    expect(await cluster.ended(runId)).toMatchObject({ status: 'completed', docker_image: TEST_IMAGE })
    const [step] = (await cluster.store.runs.steps(String(runId)))?.data ?? []
    // Commands have the variables of the image, including PATH.
    expect(step?.output).toMatch(/^image\n\/.*:\/bin\n$/)
  })
  afterAll(async () => {
    await worker?.[Symbol.asyncDispose]()
  })

  test('use the requested image with the other runner settings of the workflow, and record its digest', async () => {
    const fields = {
      runner: 'docker',
      runner_config: { image: 'no/such-image', env: { OF_WORKFLOW: 'kept' } },
      steps: [
        { name: 'there', type: 'bash', command: 'echo "$OF_WORKFLOW" > {{Output}}/found.txt' },
        {
          name: 'here',
          type: 'function',
          function:
            'save_content(read_file("{{Output}}/found.txt") + "from here\\n", "{{Output}}/found.txt")',
        },
        { name: 'there again', type: 'bash', command: 'cat {{Output}}/found.txt' },
      ],
      reports: [{ name: 'found', path: '{{Output}}/found.txt', type: 'text' }],
    }
    const job = { ...inDocker, ...pinned(fields), dockerImage: TEST_IMAGE }
    const [runId = 0] = await cluster.submit([], [freshName()], job)
    const run = await cluster.ended(runId)
    expect(run).toMatchObject({ status: 'completed', error_message: '', completed_steps: 3 })
    expect(run.facts).toMatchObject({
      image: TEST_IMAGE,
      image_digest: expect.stringMatching(/sha256:[0-9a-f]{64}/),
    })
    const artifacts = (await cluster.store.runs.artifacts(String(runId)))?.data ?? []
    const report = artifacts.find(({ name }) => name === 'found')
    expect(report).toMatchObject({ artifact_type: 'report', size_bytes: 'kept\nfrom here\n'.length })
    const stored = await cluster.store.runs.artifact(String(runId), report?.id ?? '')
    await using store = openArtifactStore({ kind: 'folder', folder: cluster.config().artifacts.folder })
    const found = await store.get(stored?.store_key ?? '')
    expect(found && (await text(found.body))).toBe('kept\nfrom here\n')
    expect(await containersOf(run.run_uuid)).toBe('')
  })

  test('use the network that the caller requested', async () => {
    const network = [{ name: 'network', command: 'readlink /proc/self/ns/net' }]
    const asked = async (dockerNetwork: string): Promise<string> => {
      const job = { ...inDocker, dockerImage: TEST_IMAGE, dockerNetwork }
      const [runId = 0] = await cluster.submit(network, [freshName()], job)
      expect(await cluster.ended(runId)).toMatchObject({ status: 'completed', docker_network: dockerNetwork })
      const [step] = (await cluster.store.runs.steps(String(runId)))?.data ?? []
      return step?.output.trim() ?? ''
    }
    const machine = await readlink('/proc/self/ns/net')
    expect(await asked('host')).toBe(machine)
    expect(await asked('none')).not.toBe(machine)
  })

  test('of a flow use the runner of the flow for modules without one, and record the runner of each module', async () => {
    const command = 'echo "${IMAGE_VARIABLE:-worker}" >> {{Output}}/runners.txt'
    const module = (name: string, more = {}) => ({ name, steps: [{ name, type: 'bash', command }], ...more })
    const fields = {
      kind: 'flow',
      runner: 'docker',
      runner_config: { image: TEST_IMAGE },
      modules: [
        module('inside'),
        module('outside', { runner: 'host', depends_on: ['inside'] }),
        module('networkless', { runner_config: { network: 'none' }, depends_on: ['outside'] }),
      ],
      hooks: {
        post_scan_steps: [
          { name: 'hook', type: 'bash', command: `${command}; /bin/cat {{Output}}/runners.txt` },
        ],
      },
    }
    const job = { ...pinned(fields), workflowKind: 'flow' as const, requirementClass: 'docker' }
    const [runId = 0] = await cluster.submit([], [freshName()], job)
    const { status, error_message, facts } = await cluster.ended(runId)
    expect([status, error_message]).toEqual(['completed', ''])
    const container = expect.stringMatching(`^docker ${TEST_IMAGE} \\(sha256:[0-9a-f]{64}\\)$`)
    expect(facts).toMatchObject({
      'runner of inside': container,
      'runner of networkless': container,
      'runner of outside': 'host',
    })
    const steps = (await cluster.store.runs.steps(String(runId)))?.data ?? []
    expect(steps.find(({ step_name }) => step_name === 'hook')?.output).toBe('image\nworker\nimage\nworker\n')
  })

  test('show their output while they run', async () => {
    const [runId = 0] = await cluster.submit(TALK, [freshName()], { ...inDocker, dockerImage: TEST_IMAGE })
    expect(await liveOutput(runId)).toBe('first\n')
    await cluster.store.runs.requestCancel(String(runId))
    expect(await cluster.ended(runId)).toMatchObject({ status: 'cancelled' })
  })

  test('have no container left when they are recorded as cancelled', async () => {
    const target = freshName()
    const steps = [{ name: 'slow', command: 'trap "" TERM; echo up > {{Output}}/up; sleep 300' }]
    const [runId = 0] = await cluster.submit(steps, [target], { ...inDocker, dockerImage: TEST_IMAGE })
    await cluster.written(target, 'up')
    const { run_uuid: runUuid } = await cluster.run(runId)
    expect(await containersOf(runUuid)).not.toBe('')
    await cluster.store.runs.requestCancel(String(runId))
    await cluster.queue.publishCancel([{ runId }])
    expect(await cluster.ended(runId)).toMatchObject({ status: 'cancelled' })
    expect(await containersOf(runUuid)).toBe('')
  })

  test('of a crashed worker are cleaned up when another worker starts, and live runs are not touched', async () => {
    const target = freshName()
    const steps = [
      { name: 'long', command: 'echo up > {{Output}}/up; until [ -e {{Output}}/go ]; do sleep 0.1; done' },
    ]
    const [runId = 0] = await cluster.submit(steps, [target], { ...inDocker, dockerImage: TEST_IMAGE })
    await cluster.written(target, 'up')
    const orphan = randomUUID()
    const labels = { owner: await cluster.store.farmId(), run: orphan, attempt: '1' }
    const args = Object.entries(labels).flatMap(([name, value]) => ['--label', `scanfarm.${name}=${value}`])
    await docker('run', '--detach', '--network', 'none', ...args, TEST_IMAGE, 'sleep', '300')
    const { folder } = cluster.config().worker
    await mkdir(join(folder, 'runs', `${orphan}-1`, 'left'), { recursive: true })
    await using _other = await dockerWorker()
    await until(
      async () => {
        const left =
          (await exists(join(folder, 'runs', `${orphan}-1`))) || (await containersOf(orphan)) !== ''
        return left ? undefined : true
      },
      { what: 'the sweep' },
    )
    await exec('touch', [join(folder, 'workspaces', target, 'go')])
    expect(await cluster.ended(runId)).toMatchObject({ status: 'completed' })
  })
})

describe('Ssh runs', () => {
  test('complete with their files on both machines, and record the host', async () => {
    await using sshd = await startSshServer()
    const config = cluster.config({
      SCANFARM_WORKER_FOLDER: join(sshd.root, 'work'),
      SCANFARM_RUNNER_SSH_KNOWN_HOSTS: sshd.knownHosts,
    })
    await using _worker = await startWorker(config, overrides)
    const fields = {
      runner: 'ssh',
      runner_config: { host: `${sshd.user}@elsewhere`, key_file: sshd.keyFile, host_keys: 'strict' },
      steps: [
        { name: 'there', type: 'bash', command: 'id -un > {{Output}}/who' },
        {
          name: 'here',
          type: 'function',
          function: 'save_content(read_file("{{Output}}/who") + "from here\\n", "{{Output}}/who")',
        },
        { name: 'there again', type: 'bash', command: 'cat {{Output}}/who; echo done > {{Output}}/last' },
      ],
    }
    const target = freshName()
    const job: Partial<JobDraft> = {
      ...pinned(fields),
      runnerType: 'ssh',
      runnerGiven: true,
      sshHost: `127.0.0.1:${sshd.port}`,
    }
    const [runId = 0] = await cluster.submit([], [target], job)
    const run = await cluster.ended(runId)
    expect(run).toMatchObject({ status: 'completed', error_message: '' })
    expect(run.facts).toMatchObject({ host: `${sshd.user}@127.0.0.1:${sshd.port}` })
    const steps = (await cluster.store.runs.steps(String(runId)))?.data ?? []
    expect(steps[2]?.output).toBe(`${sshd.user}\nfrom here\n`)
    const last = join(sshd.root, 'work/workspaces', target, 'last')
    expect(await readFile(last, 'utf8')).toBe('done\n')
  })

  test('show their output while they run', async () => {
    await using sshd = await startSshServer()
    const config = cluster.config({
      SCANFARM_WORKER_FOLDER: join(sshd.root, 'work'),
      SCANFARM_RUNNER_SSH_KNOWN_HOSTS: sshd.knownHosts,
    })
    await using _worker = await startWorker(config, overrides)
    const host = `${sshd.user}@127.0.0.1:${sshd.port}`
    const fields = { runner: 'ssh', runner_config: { host, key_file: sshd.keyFile }, steps: TALK }
    const [runId = 0] = await cluster.submit([], [freshName()], {
      ...pinned(fields),
      runnerType: 'ssh',
      runnerGiven: true,
    })
    expect(await liveOutput(runId)).toBe('first\n')
    await cluster.store.runs.requestCancel(String(runId))
    expect(await cluster.ended(runId)).toMatchObject({ status: 'cancelled' })
  })

  test('of one step copy its files back', async () => {
    await using sshd = await startSshServer()
    const config = cluster.config({ SCANFARM_WORKER_FOLDER: join(sshd.root, 'work') })
    await using _worker = await startWorker(config, overrides)
    const step_runner_config = {
      host: `${sshd.user}@127.0.0.1:${sshd.port}`,
      key_file: sshd.keyFile,
      known_hosts: sshd.knownHosts,
    }
    const steps = [
      { name: 'here', type: 'bash', command: 'echo given > {{Output}}/in' },
      {
        name: 'there',
        type: 'remote-bash',
        step_runner: 'ssh',
        step_runner_config,
        command: 'cat {{Output}}/in > {{Output}}/out; id -un >> {{Output}}/out',
      },
      { name: 'here again', type: 'bash', command: 'cat {{Output}}/out' },
    ]
    const [runId = 0] = await cluster.submit([], [freshName()], pinned({ steps }))
    expect(await cluster.ended(runId)).toMatchObject({ status: 'completed', error_message: '' })
    const [, , last] = (await cluster.store.runs.steps(String(runId)))?.data ?? []
    expect(last?.output).toBe(`given\n${sshd.user}\n`)
  })
})
