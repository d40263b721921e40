import { rmSync } from 'node:fs'
import type { ChildProcess } from 'node:child_process'
import { describeFailure, pidOf } from './direct-launcher.ts'
import { killFamily, send } from './family.ts'
import type { SpawnerReply, SpawnerRequest } from './spawner-protocol.ts'
import { startProcess } from './start-process.ts'

/**
 * Program of the small resident process that starts commands: forking costs time in proportion to the memory of the
 * process that forks. It lives exactly as long as the channel to its program: when that ends, whatever the cause, it
 * kills every command, removes the folder of the pipes named by its only argument, and goes.
 */

const LAST_SWEEPS_AT_ONCE = 4

const running = new Map<number, ChildProcess>()
const markers = new Set<string>()

function reply(message: SpawnerReply): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => {})
}

async function launch(request: Extract<SpawnerRequest, { do: 'launch' }>): Promise<void> {
  const { id } = request
  markers.add(request.marker)
  try {
    const child = await startProcess(request)
    running.set(id, child)
    child.once('exit', (code, signal) => {
      running.delete(id)
      reply({ id, is: 'ended', code, signal })
    })
    reply({ id, is: 'started', pid: pidOf(child) })
  } catch (error) {
    reply({ id, is: 'failed', ...describeFailure(error) })
  }
}

async function leave(pipeFolder: string): Promise<void> {
  for (const child of running.values()) send(-pidOf(child), 'SIGKILL')
  const rest = [...markers]
  const sweep = async (): Promise<void> => {
    for (let marker = rest.pop(); marker !== undefined; marker = rest.pop()) await killFamily({ marker }, 0)
  }
  await Promise.all(Array.from({ length: LAST_SWEEPS_AT_ONCE }, sweep))
  rmSync(pipeFolder, { recursive: true, force: true })
  process.exit(0)
}

process.on('message', (request: SpawnerRequest) => {
  for (const marker of request.forget) markers.delete(marker)
  if (request.do === 'launch') void launch(request)
})
process.once('disconnect', () => void leave(process.argv[2] ?? ''))
// The program decides when its commands end: a signal sent to the whole group or service is for it alone.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const) process.on(signal, () => {})
