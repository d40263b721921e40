import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { engineAnswers } from '../src/docker/engine.ts'
import { until } from './processes.ts'

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

/** A private engine: own data, own socket, no bridge and no packet filter rules. Needs root. */
export async function startEngine(): Promise<TestEngine> {
  const folder = await mkdtemp(join(tmpdir(), 'scanfarm-docker-'))
  const address = `unix://${folder}/docker.sock`
  const places = ['data-root', 'exec-root', 'pidfile'].flatMap((name) => [`--${name}`, join(folder, name)])
  const quiet = [
    '--iptables=false',
    '--ip6tables=false',
    '--bridge=none',
    '--log-level=warn',
    '--shutdown-timeout=1',
  ]
  const engine = spawn('sh', ['-c', UNTIL_STDIN_ENDS, 'dockerd', ...places, '--host', address, ...quiet], {
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const log = createWriteStream(join(folder, 'log'))
  engine.stdout.pipe(log, { end: false })
  engine.stderr.pipe(log, { end: false })
  const ended = once(engine, 'exit')
  try {
    await until(() => engineAnswers({ engine: address }))
  } catch (error) {
    const said = await readFile(join(folder, 'log'), 'utf8')
    await stop(engine, ended, folder)
    throw new Error(`dockerd does not start: ${said}`, { cause: error })
  }
  return { address, [Symbol.asyncDispose]: () => stop(engine, ended, folder) }
}

async function stop(engine: ChildProcess, ended: Promise<unknown>, folder: string): Promise<void> {
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
  await rm(folder, { recursive: true, force: true })
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
