import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ensurePrograms, findProgram, PROGRAMS } from './programs.ts'
import type { Engine } from './engine.ts'

const USUAL_SOCKET = '/var/run/docker.sock'
const READY_MS = 60_000
const STEP_MS = 100
const LOG_TAIL = 2_000

/** Whether an engine answers at this socket. */
const answers = async (socketPath: string): Promise<boolean> => {
  if (!existsSync(socketPath)) return false
  const { promise, resolve } = Promise.withResolvers<boolean>()
  request({ socketPath, path: '/_ping' }, (answer) => {
    answer.resume()
    resolve(answer.statusCode === 200)
  })
    .on('error', () => resolve(false))
    .end()
  return promise
}

const givenSocket = (): string | undefined => {
  const host = process.env.DOCKER_HOST
  return host?.startsWith('unix://') ? host.slice('unix://'.length) : undefined
}

const until = async (ready: () => Promise<boolean>, running: () => boolean): Promise<boolean> => {
  const deadline = performance.now() + READY_MS
  while (performance.now() < deadline && running()) {
    if (await ready()) return true
    await sleep(STEP_MS)
  }
  return false
}

/** An engine of our own, with its images and containers in a folder that goes with it. */
const startEngine = async (): Promise<Engine> => {
  ensurePrograms([PROGRAMS.docker, PROGRAMS.busybox])
  if (process.getuid?.() !== 0)
    throw new Error(
      'no docker engine answers, and only root can start one: start docker, or set DOCKER_HOST=unix://…',
    )
  const folder = await mkdtemp(join(tmpdir(), 'scanfarm-docker-'))
  const socket = join(folder, 'docker.sock')
  const logFile = join(folder, 'log')
  const log = await open(logFile, 'w')
  const args = [
    '--host',
    `unix://${socket}`,
    '--data-root',
    join(folder, 'data'),
    '--exec-root',
    join(folder, 'exec'),
  ]
  const daemon = spawn(findProgram('dockerd') ?? 'dockerd', [...args, '--pidfile', join(folder, 'pid')], {
    stdio: ['ignore', log.fd, log.fd],
    detached: true,
  })
  const ended = once(daemon, 'exit')
  await log.close()
  const stop = async (): Promise<void> => {
    daemon.kill('SIGTERM')
    await ended
    await rm(folder, { recursive: true, force: true })
  }
  if (
    await until(
      () => answers(socket),
      () => daemon.exitCode === null,
    )
  )
    return { value: socket, [Symbol.asyncDispose]: stop }
  const said = (await readFile(logFile, 'utf8')).slice(-LOG_TAIL)
  await stop()
  throw new Error(`dockerd does not start here; it says:\n${said}`)
}

/** Socket of a docker engine: the one of DOCKER_HOST, the usual one, or one that is started here (root). */
export const openDocker = async (): Promise<Engine> => {
  for (const socket of [givenSocket(), USUAL_SOCKET])
    if (socket !== undefined && (await answers(socket)))
      return { value: socket, async [Symbol.asyncDispose]() {} }
  return startEngine()
}
