import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { stop } from '@scanfarm/cli/demo'
import { answers, findDocker } from '../services/docker.ts'

const START_MS = 60_000
const POLL_MS = 100

/** Runs a program that ends with this one, even if this one is killed. */
const UNTIL_STDIN_ENDS = '"$0" "$@" </dev/null & read -r _; kill $!; wait $!'

export interface DemoEngine {
  /** `unix://…` */
  readonly address: string
  /** Folder of an engine that was started for the demo; "" if the engine existed before. */
  readonly folder: string
}

/**
 * The engine of this system; otherwise a new one with its own data, socket and networks, which requires root. `keep`: the new
 * engine keeps running when this program ends.
 */
export async function openEngine(keep: boolean): Promise<DemoEngine> {
  const address = await findDocker()
  if (address !== undefined) return { address, folder: '' }
  const folder = mkdtempSync(join(tmpdir(), 'scanfarm-demo-engine-'))
  const engine = { address: `unix://${folder}/docker.sock`, folder }
  const child = startEngine(engine, keep)
  const deadline = Date.now() + START_MS
  while (!(await answers(engine.address))) {
    if (child.exitCode === null && Date.now() < deadline) await delay(POLL_MS)
    else throw new Error(`the docker engine did not start:\n${logOf(folder)}`)
  }
  child.unref()
  return engine
}

/** In its own session: Ctrl-C must not end it before its containers are removed. */
function startEngine({ address, folder }: DemoEngine, keep: boolean): ChildProcess {
  const places = ['data-root', 'exec-root', 'pidfile'].flatMap((name) => [`--${name}`, join(folder, name)])
  const quiet = ['--iptables=false', '--ip6tables=false', '--bridge=none', '--log-level=warn']
  const command = ['dockerd', ...places, '--host', address, ...quiet, '--shutdown-timeout=5']
  const [program = '', ...args] = keep ? command : ['sh', '-c', UNTIL_STDIN_ENDS, ...command]
  const log = openSync(join(folder, 'log'), 'w')
  const child = spawn(program, args, { stdio: [keep ? 'ignore' : 'pipe', log, log], detached: true })
  closeSync(log)
  child.on('error', () => {})
  return child
}

const logOf = (folder: string): string =>
  readFileSync(join(folder, 'log'), 'utf8').split('\n').slice(-20).join('\n')

/** An engine that existed before keeps running. */
export async function closeEngine({ folder }: DemoEngine): Promise<void> {
  if (folder === '') return
  const pidFile = join(folder, 'pidfile')
  if (existsSync(pidFile)) await stop(Number(readFileSync(pidFile, 'utf8')))
  // Remaining mounts would prevent the removal of its folder.
  const mounts = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    .filter((path) => path.startsWith(`${folder}/`))
  for (const mount of mounts.reverse()) execFileSync('umount', ['-l', mount])
  rmSync(folder, { recursive: true, force: true })
}
