import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { until } from '@scanfarm/testing'
import type { EngineAddress } from '../src/docker/engine-address.ts'
import { isEngineUp } from '../src/docker/engine.ts'

const exec = promisify(execFile)

/** A docker engine for tests with the test image on it. */
export interface TestEngine extends AsyncDisposable {
  /** Such as `unix:///tmp/x/docker.sock`. */
  readonly address: string
}

export const TEST_IMAGE = 'scanfarm-test:latest'
const STOP_MS = 20_000

/** Runs a program that goes with the tests, also when these are killed. */
const UNTIL_STDIN_ENDS = '"$0" "$@" </dev/null & read -r _; kill $!; wait $!'

/** The engine that `SCANFARM_TEST_DOCKER` names, else one of our own. */
export async function useEngine(): Promise<TestEngine> {
  const given = process.env['SCANFARM_TEST_DOCKER']
  const engine =
    given === undefined ? await startEngine() : { address: given, async [Symbol.asyncDispose]() {} }
  await importTestImage(engine.address)
  return engine
}

/** An engine of our own. */
export interface PrivateEngine extends TestEngine {
  /** By SIGKILL it leaves its containers behind, running. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>
  /** Any other signal, such as SIGSTOP. */
  send(signal: NodeJS.Signals): Promise<void>
  /** Comes back with the same data, at the same address. */
  startAgain(): Promise<void>
}

export interface EngineOptions {
  /** Where it listens; default: a socket in its folder. */
  readonly address?: string
  /** Further arguments, such as those for TLS. */
  readonly args?: readonly string[]
  /** How to ask it. */
  readonly tls?: EngineAddress['tls']
}

/** A private engine: own data, own socket, no bridge and no packet filter rules. Needs root. */
export async function startEngine(options: EngineOptions = {}): Promise<PrivateEngine> {
  if (process.getuid?.() !== 0)
    throw new Error('these tests start a docker engine of their own, which only root can: run them as root')
  const folder = await mkdtemp(join(tmpdir(), 'scanfarm-docker-'))
  const address = options.address ?? `unix://${folder}/docker.sock`
  let running = await runEngine(folder, address, options)
  return {
    address,
    async end(signal) {
      await sendTo(join(folder, 'pidfile'), signal)
      running.engine.stdin?.end()
      await running.ended
      // Its helper, which a service manager would end with it.
      await sendTo(join(folder, 'exec-root/containerd/containerd.pid'), signal)
    },
    async send(signal) {
      process.kill(Number(await readFile(join(folder, 'pidfile'), 'utf8')), signal)
    },
    async startAgain() {
      running = await runEngine(folder, address, options)
    },
    async [Symbol.asyncDispose]() {
      if (options.address === undefined) await removeNetworks(address)
      await stop(running, folder)
    },
  }
}

/** An engine that stops leaves their bridges on the machine. One that does not answer cannot be helped. */
async function removeNetworks(address: string): Promise<void> {
  const script = 'docker rm --force --volumes $(docker ps --all --quiet); docker network prune --force'
  await exec('sh', ['-c', script], { env: { ...process.env, DOCKER_HOST: address } }).catch(() => {})
}

/** The process that the file names, if it is there; the file goes. */
async function sendTo(pidFile: string, signal: NodeJS.Signals): Promise<void> {
  const pid = Number(await readFile(pidFile, 'utf8').catch(() => ''))
  await rm(pidFile, { force: true })
  try {
    if (pid > 0) process.kill(pid, signal)
  } catch {
    // It has ended by itself.
  }
}

interface Running {
  readonly engine: ChildProcess
  readonly ended: Promise<unknown>
}

async function runEngine(folder: string, address: string, options: EngineOptions): Promise<Running> {
  const places = ['data-root', 'exec-root', 'pidfile'].flatMap((name) => [`--${name}`, join(folder, name)])
  const quiet = [
    '--iptables=false',
    '--ip6tables=false',
    '--bridge=none',
    '--log-level=warn',
    '--shutdown-timeout=1',
  ]
  const args = [...places, '--host', address, ...quiet, ...(options.args ?? [])]
  const engine = spawn('sh', ['-c', UNTIL_STDIN_ENDS, 'dockerd', ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const log = createWriteStream(join(folder, 'log'))
  engine.stdout.pipe(log, { end: false })
  engine.stderr.pipe(log, { end: false })
  const running = { engine, ended: once(engine, 'exit') }
  try {
    await until(() => isEngineUp({ engine: address, tls: options.tls }))
    return running
  } catch (error) {
    const said = await readFile(join(folder, 'log'), 'utf8')
    await stop(running, folder)
    throw new Error(`dockerd does not start: ${said}`, { cause: error })
  }
}

async function stop({ engine, ended }: Running, folder: string): Promise<void> {
  engine.stdin?.end()
  const timer = setTimeout(() => engine.kill('SIGKILL'), STOP_MS)
  await ended
  clearTimeout(timer)
  // What the engine left mounted would keep its folder busy.
  const mounts = (await readFile('/proc/self/mounts', 'utf8'))
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
  for (const mount of mounts.filter((path) => path.startsWith(folder)).reverse())
    await exec('umount', ['-l', mount])
  // Its helpers may be a moment behind it.
  await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
}

/** Made from the static busybox of this machine: no registry is asked. */
export async function importTestImage(address: string): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'scanfarm-image-'))
  try {
    for (const folder of ['bin', 'etc', 'proc', 'sys', 'dev', 'root', 'tmp']) await mkdir(join(root, folder))
    await copyFile('/bin/busybox', join(root, 'bin/busybox'))
    const { stdout } = await exec('/bin/busybox', ['--list'])
    for (const name of stdout.trim().split('\n')) {
      if (name !== 'busybox') await symlink('busybox', join(root, 'bin', name))
    }
    await writeFile(
      join(root, 'etc/passwd'),
      'root:x:0:0:root:/root:/bin/sh\nscan:x:1000:1000::/tmp:/bin/sh\n',
    )
    await writeFile(join(root, 'etc/group'), 'root:x:0:\nscan:x:1000:\n')
    const script = 'tar -C "$1" -c . | docker --host "$2" import --change "ENV IMAGE_VARIABLE=image" - "$3"'
    await exec('/bin/sh', ['-c', script, 'sh', root, address, TEST_IMAGE])
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}
