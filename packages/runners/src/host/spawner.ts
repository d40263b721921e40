import type { ChildProcess } from 'node:child_process'
import { rmSync } from 'node:fs'
import { constants } from 'node:os'
import { property } from '../error-facts.ts'
import { killFamily, send } from './family.ts'
import type { LaunchRequest } from './launcher.ts'
import { RequestReader } from './spawner-protocol.ts'
import { pidOf, startProcess } from './start-process.ts'

/**
 * Program of the small resident process that starts commands, where the system has no Perl (spawner.pl). It lives
 * exactly as long as its stdin: when that ends, whatever the cause, it kills every command, removes the folder of the
 * pipes named by its only argument, and goes.
 */

const SWEEPS_AT_ONCE = 4

const running = new Map<number, ChildProcess>()
const markers = new Set<string>()

/** What cannot be written is for a program that is gone, which its stdin tells as well. */
const reply = (...words: readonly (string | number)[]): void =>
  void process.stdout.write(`${words.join(' ')}\n`)

async function launch(id: number, request: LaunchRequest): Promise<void> {
  markers.add(request.marker)
  try {
    const child = await startProcess(request)
    running.set(id, child)
    child.once('exit', (code, signal) => {
      running.delete(id)
      reply('ended', id, code ?? 0, signal === null ? 0 : constants.signals[signal])
    })
    reply('started', id, pidOf(child))
  } catch (error) {
    reply('failed', id, Math.abs(Number(property(error, 'errno') ?? constants.errno.EINVAL)))
  }
}

async function leave(pipeFolder: string): Promise<void> {
  for (const child of running.values()) send(-pidOf(child), 'SIGKILL')
  const rest = [...markers]
  const sweep = async (): Promise<void> => {
    for (let marker = rest.pop(); marker !== undefined; marker = rest.pop()) await killFamily({ marker }, 0)
  }
  await Promise.all(Array.from({ length: SWEEPS_AT_ONCE }, sweep))
  rmSync(pipeFolder, { recursive: true, force: true })
  process.exit(0)
}

const requests = new RequestReader()
process.stdin.on('data', (chunk: Buffer) => {
  for (const message of requests.read(chunk)) {
    if (message.kind === 'launch') void launch(message.id, message.request)
    else if (message.kind === 'purge') reply('failed', message.id, constants.errno.ENOSYS)
    else markers.delete(message.marker)
  }
})
process.stdin.once('close', () => void leave(process.argv[2] ?? ''))
process.stdout.on('error', () => {})
// The program decides when its commands end: a signal sent to the whole group or service is for it alone.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const) process.on(signal, () => {})
reply('ready')
