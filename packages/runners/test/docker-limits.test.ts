// exclusive: docker
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readdir, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import type { Runner, RunnerSpec } from '@scanfarm/contracts'
import { until } from '@scanfarm/testing'
import { createDockerRunners, type DockerRunners, type DockerRunnersOptions } from '../src/index.ts'
import { TEST_IMAGE, useEngine, type TestEngine } from './docker-engine.ts'
import { TEST_MS, alive, token } from './processes.ts'
import { startRegistry, type TestRegistry } from './registry.ts'

jest.setTimeout(TEST_MS)

const exec = promisify(execFile)
const NEVER = new AbortController().signal
const MIB = 2 ** 20

describe('the docker runner', () => {
  let engine: TestEngine
  let registry: TestRegistry
  let folder: string
  const opened: AsyncDisposable[] = []
  const lines: string[] = []

  beforeAll(async () => {
    engine = await useEngine()
    registry = await startRegistry()
    folder = await mkdtemp(join(tmpdir(), 'scanfarm-docker-runs-'))
    await chmod(folder, 0o777)
  })
  afterAll(async () => {
    for (const each of opened.reverse()) await each[Symbol.asyncDispose]()
    await registry?.[Symbol.asyncDispose]()
    await engine?.[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })

  function provide(options: Partial<DockerRunnersOptions> = {}): DockerRunners {
    const provider = createDockerRunners({
      engine: engine.address,
      owner: 'limits',
      files: 'mount',
      ...options,
    })
    opened.push(provider)
    return provider
  }

  const context = (signal = NEVER) => ({
    runUuid: crypto.randomUUID(),
    attempt: 1,
    folder,
    marker: `limits-${crypto.randomUUID()}`,
    signal,
    log: (line: string) => void lines.push(line),
  })

  async function open(
    spec: Partial<Extract<RunnerSpec, { type: 'docker' }>> = {},
    options = {},
  ): Promise<Runner> {
    const runner = await provide(options).open({ type: 'docker', image: TEST_IMAGE, ...spec }, context())
    opened.push(runner)
    return runner
  }

  async function text(runner: Runner, script: string) {
    let said = ''
    const outcome = await runner.run(
      { argv: ['sh', '-c', script], env: {} },
      { signal: NEVER, onOutput: (_, chunk) => void (said += chunk.toString()) },
    )
    return { outcome, said }
  }

  const containers = async (filter: string): Promise<string[]> => {
    const { stdout } = await exec('docker', ['--host', engine.address, 'ps', '-aq', '--filter', filter])
    return stdout.split('\n').filter(Boolean)
  }

  test('reports the digest of the image', async () => {
    const runner = await open()
    expect(runner.facts).toEqual({
      image: TEST_IMAGE,
      image_digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    })
  })

  test('gives commands the variables, volumes, user and folder of the workflow', async () => {
    const volume = await mkdtemp(join(folder, 'volume-'))
    await chmod(volume, 0o755)
    await writeFile(join(volume, 'file'), 'from the volume')
    const runner = await open({
      env: { COLOUR: 'blue' },
      volumes: [`${volume}:/data:ro`],
      user: '1000:1000',
      workdir: '/data',
      network: 'none',
    })
    const { said } = await text(
      runner,
      'echo $COLOUR $IMAGE_VARIABLE; id -u; pwd; cat file; touch x 2>/dev/null || echo -read-only',
    )
    expect(said).toBe('blue image\n1000\n/data\nfrom the volume-read-only\n')
  })

  test('uses one container for all commands, or one for each', async () => {
    const kept = await open()
    await text(kept, 'echo here >/tmp/file')
    expect((await text(kept, 'cat /tmp/file')).said).toBe('here\n')
    const fresh = await open({ persistent: false })
    await text(fresh, 'echo here >/tmp/file')
    expect((await text(fresh, 'cat /tmp/file || echo none')).said).toContain('none')
  })

  test('reports lack of memory as the cause of a kill', async () => {
    const runner = await open({}, { limits: { memoryBytes: 32 * MIB } })
    const { outcome } = await text(runner, 'exec sort /dev/zero')
    expect(outcome).toEqual({
      kind: 'signalled',
      signal: 'SIGKILL',
      reason: expect.stringContaining('32 MiB'),
    })
    expect((await text(runner, 'exit 137')).outcome).toEqual({ kind: 'exited', code: 137 })
  })

  test('limits the number of processes and forbids new privileges', async () => {
    const runner = await open({}, { limits: { pids: 40 } })
    const { said } = await text(
      runner,
      'grep NoNewPrivs /proc/self/status; for i in $(seq 60); do sleep 5 & done; kill $(jobs -p)',
    )
    expect(said).toMatch(/NoNewPrivs:\s+1/)
    expect(said).toMatch(/can't fork/)
  })

  test('pulls a missing image, logs it, and reports its digest', async () => {
    lines.length = 0
    // The image has no shell, so the run stops here.
    await expect(open({ image: registry.image })).rejects.toThrow(/has no \/bin\/sh/)
    expect(lines[0]).toBe(`pulling the image ${registry.image}`)
    expect(lines.at(-1)).toBe(`pulled the image ${registry.image} as ${registry.digest}`)
    await exec('docker', ['--host', engine.address, 'rmi', registry.image])
  })

  test('can be cancelled while it pulls an image', async () => {
    registry.delaysLayers = true
    lines.length = 0
    const cancel = new AbortController()
    const opening = provide().open({ type: 'docker', image: registry.image }, context(cancel.signal))
    opening.catch(() => {})
    await until(() => lines.length > 0)
    cancel.abort()
    await expect(opening).rejects.toThrow(/abort/i)
    registry.delaysLayers = false
  })

  test('names an image that neither the engine nor the registry has', async () => {
    const image = registry.image.replace('tool', 'no-such-tool')
    await expect(open({ image })).rejects.toMatchObject({
      name: 'RunnerUnavailableError',
      message: expect.stringContaining(`the image ${image} is not on the engine and cannot be pulled`),
    })
  })

  test('gives advice when there is no engine', async () => {
    await expect(open({}, { engine: 'unix:///no/such.sock' })).rejects.toMatchObject({
      name: 'RunnerUnavailableError',
      message: expect.stringContaining('/no/such.sock cannot be reached: there is no such socket'),
    })
  })

  test('detects whether the engine sees the files of the worker', async () => {
    const runner = await open({}, { files: undefined })
    expect(runner.sharesFiles).toBe(true)
    expect((await readdir(folder)).filter((name) => name.startsWith('.scanfarm-'))).toEqual([])
  })

  test.each([true, false])(
    'lets a worker that is not root read and remove files that root of a container created (persistent: %s)',
    async (persistent) => {
      const made = await mkdtemp(join(folder, 'made-'))
      const runner = await provide({ fileOwner: { uid: 1234, gid: 1235 } }).open(
        { type: 'docker', image: TEST_IMAGE, persistent },
        { ...context(), folder: made },
      )
      await text(
        runner,
        'umask 077; mkdir -p deep/er; echo secret >deep/er/file; ln -s /etc/passwd deep/link',
      )
      // As workflows do before anything on the worker reads the files.
      await runner.pull(made, NEVER)
      const asWorker = { uid: 1234, gid: 1235 }
      expect((await exec('cat', [join(made, 'deep/er/file')], asWorker)).stdout).toBe('secret\n')
      await text(runner, 'umask 077; mkdir later; echo >later/file')
      await runner[Symbol.asyncDispose]()
      await exec('sh', ['-c', 'rm -r "$0"/*', made], asWorker)
      expect(await readdir(made)).toEqual([])
      expect((await stat('/etc/passwd')).uid).toBe(0)
    },
  )

  test('copies no file out of the container to a path outside the folder of the run', async () => {
    const runner = await open({}, { files: 'copy' })
    await text(runner, 'mkdir -p out; echo x >out/file; ln -s /etc out/link; ln -s /etc/passwd out/passwd')
    await symlink('/etc', join(folder, 'evil'))
    await runner.pull(join(folder, 'out'), NEVER)
    expect(await readdir(join(folder, 'out'))).toEqual(['file'])
    await text(runner, 'mkdir -p evil; echo x >evil/scanfarm-was-here')
    await expect(runner.pull(join(folder, 'evil'), NEVER)).rejects.toThrow('is outside of')
    await rm(join(folder, 'evil'))
  })

  test('reports a command as lost when its container is removed', async () => {
    const word = token()
    const mine = context()
    const runner = await provide().open({ type: 'docker', image: TEST_IMAGE }, mine)
    opened.push(runner)
    const lost = text(runner, `sleep ${word}`)
    await until(() => alive(word).length > 0)
    const [container = ''] = await containers(`label=scanfarm.run=${mine.runUuid}`)
    await exec('docker', ['--host', engine.address, 'rm', '-f', container])
    expect((await lost).outcome).toEqual({ kind: 'lost', reason: expect.stringContaining('container') })
    expect(alive(word)).toEqual([])
  })

  test('gives containers the requested network: none, or that of the machine', async () => {
    const network = async (name: string): Promise<string> =>
      (await text(await open({ network: name }), 'readlink /proc/self/ns/net')).said.trim()
    const machine = await readlink('/proc/self/ns/net')
    expect(await network('host')).toBe(machine)
    expect(await network('none')).not.toBe(machine)
  })

  test('removes its container when the worker is killed', async () => {
    const word = token()
    const options = JSON.stringify({
      docker: { engine: engine.address, owner: 'killed-worker', files: 'mount' },
    })
    const program = fileURLToPath(new URL('./killed-worker.ts', import.meta.url))
    const worker = spawn(
      process.execPath,
      [
        program,
        options,
        JSON.stringify({ type: 'docker', image: TEST_IMAGE }),
        folder,
        `sleep ${word}; true`,
      ],
      { stdio: ['ignore', 'ignore', 'inherit'] },
    )
    await until(() => alive(word).length > 0)
    worker.kill('SIGKILL')
    await once(worker, 'exit')
    await until(() => alive(word).length === 0)
    await until(async () => (await containers('label=scanfarm.owner=killed-worker')).length === 0)
  })

  test('removes the containers of ended runs in a sweep, but only those of its owner', async () => {
    const [ours, theirs] = [crypto.randomUUID(), crypto.randomUUID()]
    const provider = provide({ owner: ours })
    const [dead, living] = [context(), context()]
    for (const each of [dead, living])
      opened.push(await provider.open({ type: 'docker', image: TEST_IMAGE }, each))
    opened.push(await provide({ owner: theirs }).open({ type: 'docker', image: TEST_IMAGE }, dead))
    expect(await provider.sweepContainers(({ runUuid }) => runUuid === living.runUuid)).toBe(1)
    expect(await containers(`label=scanfarm.owner=${ours}`)).toHaveLength(1)
    expect(await containers(`label=scanfarm.owner=${theirs}`)).toHaveLength(1)
  })
})
