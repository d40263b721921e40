import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, constants as files, openSync, rmSync } from 'node:fs'
import { constants } from 'node:os'
import { fieldOf } from '../../error-fields.ts'
import { killProcessTree, send } from '../process-tree.ts'
import { RequestReader, type LaunchRequest } from './protocol.ts'

/**
 * The launcher for systems without Perl; launcher.pl is its equivalent. When its stdin ends, for any reason, it kills
 * every command, removes the folder of the pipes, which is its only argument, and exits.
 */

const SWEEPS_AT_ONCE = 4
/** It does not adopt orphans. */
const ORPHANS_UNKNOWN = 1

const running = new Map<number, ChildProcess>()
const markers = new Set<string>()

/** If a write fails, the program that reads replies is gone, and stdin ends as well. */
const reply = (...words: readonly (string | number)[]): void =>
  void process.stdout.write(`${words.join(' ')}\n`)

async function launch(id: number, request: LaunchRequest): Promise<void> {
  markers.add(request.marker)
  try {
    const child = await startProcess(request)
    running.set(id, child)
    child.once('exit', (code, signal) => {
      running.delete(id)
      reply('ended', id, code ?? 0, signal === null ? 0 : constants.signals[signal], ORPHANS_UNKNOWN)
    })
    reply('started', id, pidOf(child))
  } catch (error) {
    reply('failed', id, Math.abs(Number(fieldOf(error, 'errno') ?? constants.errno.EINVAL)))
  }
}

async function leave(pipeFolder: string): Promise<void> {
  for (const child of running.values()) send(-pidOf(child), 'SIGKILL')
  const rest = [...markers]
  const sweep = async (): Promise<void> => {
    for (let marker = rest.pop(); marker !== undefined; marker = rest.pop())
      await killProcessTree({ marker }, 0)
  }
  await Promise.all(Array.from({ length: SWEEPS_AT_ONCE }, sweep))
  rmSync(pipeFolder, { recursive: true, force: true })
  process.exit(0)
}

/**
 * Starts one process that writes to the named pipes. Rejects with the system's error.
 *
 * The pipes are opened non-blocking: without a reader the call fails at once instead of blocking forever. The process
 * itself gets blocking descriptors, because libuv clears the flag on descriptors 0 to 2.
 */
function startProcess(request: LaunchRequest): Promise<ChildProcess> {
  const opened: number[] = []
  try {
    for (const path of [request.stdout, request.stderr])
      opened.push(openSync(path, files.O_WRONLY | files.O_NONBLOCK))
    const [program = '', ...args] = request.argv
    const child = spawn(program, args, {
      env: request.env,
      cwd: request.cwd,
      uid: request.uid,
      gid: request.gid,
      detached: true,
      stdio: ['ignore', opened[0], opened[1]],
    })
    return new Promise((resolve, reject) => {
      child.once('error', reject)
      child.once('spawn', () => resolve(child))
    })
  } catch (error) {
    return Promise.reject(error)
  } finally {
    for (const descriptor of opened) closeSync(descriptor)
  }
}

const pidOf = (child: ChildProcess): number => child.pid ?? 0

const requests = new RequestReader()
process.stdin.on('data', (chunk: Buffer) => {
  for (const message of requests.read(chunk)) {
    if (message.kind === 'launch') void launch(message.id, message.request)
    else if (message.kind === 'forget') markers.delete(message.marker)
    else reply('failed', message.id, constants.errno.ENOSYS)
  }
})
process.stdin.once('close', () => void leave(process.argv[2] ?? ''))
process.stdout.on('error', () => {})
// The program decides when its commands end: signals to the whole process group or service are ignored here.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const) process.on(signal, () => {})
reply('ready')
