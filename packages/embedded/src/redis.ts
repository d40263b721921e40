import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { open, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { credentials, serviceAccount, type Account } from './account.ts'
import { freePort } from './free-port.ts'
import { poll } from './poll.ts'
import { makePassable, OWNER_ONLY } from './private-folder.ts'
import { identityOf, isAlive, signalTo } from './process-identity.ts'
import { keptPassword, makeOwnFolder, writeWhole } from './service-folder.ts'
import type { ServerKind } from './shared-server.ts'

const READY_MS = 60_000
const ASK_MS = 2_000
const STOP_MS = 30_000
const START_TRIES = 5
const RETRY_MS = 200
const LOG_TAIL = 2_000

/** The server that was started in a folder. */
interface Started {
  readonly identity: string
  readonly port: number
}

interface ServerPaths {
  readonly folder: string
  readonly data: string
  readonly log: string
  readonly program: string
  readonly account: Account
}

const stateFile = (folder: string): string => join(folder, 'server.json')

const readStarted = async (folder: string): Promise<Started | undefined> => {
  const text = await readFile(stateFile(folder), 'utf8').catch(() => undefined)
  return text === undefined ? undefined : (JSON.parse(text) as Started)
}

const passwordOf = ({ folder }: ServerPaths): Promise<string> => keptPassword(join(folder, 'password'))

/** `true` if a Redis with this password answers and has loaded its data. */
const answers = async (port: number, password: string): Promise<true | undefined> => {
  const { promise, resolve } = Promise.withResolvers<true | undefined>()
  const socket = connect({ port, host: '127.0.0.1', timeout: ASK_MS })
  let reply = ''
  socket.on('connect', () => socket.write(`AUTH ${password}\r\nPING\r\n`))
  socket.on('data', (chunk) => {
    reply += String(chunk)
    if (reply.includes('+PONG')) resolve(true)
    else if (reply.includes('-')) resolve(undefined)
  })
  socket.on('timeout', () => resolve(undefined)).on('error', () => resolve(undefined))
  socket.on('close', () => resolve(undefined))
  const answer = await promise
  socket.destroy()
  return answer
}

const urlOf = (port: number, password: string): string => `redis://:${password}@127.0.0.1:${port}`

/** Without eviction: the queue must not lose messages. */
const configText = (paths: ServerPaths, port: number, password: string): string =>
  [
    'bind 127.0.0.1',
    `port ${port}`,
    `requirepass ${password}`,
    `dir "${paths.data}"`,
    'save ""',
    'appendonly yes',
    'appendfsync everysec',
    'maxmemory-policy noeviction',
    'loglevel warning',
  ].join('\n')

/** The configuration is passed by standard input, so that the password is not visible in the process list. */
const launch = async (paths: ServerPaths, port: number, password: string): Promise<Started | undefined> => {
  const log = await open(paths.log, 'w', 0o600)
  const child = spawn(paths.program, ['-'], {
    ...credentials(paths.account),
    cwd: '/',
    env: { LC_ALL: 'C', PATH: '/usr/bin:/bin' },
    detached: true,
    stdio: ['pipe', log.fd, log.fd],
  })
  try {
    await once(child, 'spawn')
  } finally {
    await log.close()
  }
  child.stdin?.on('error', () => undefined).end(configText(paths, port, password))
  child.unref()
  const identity = identityOf(child.pid ?? 0)
  if (identity === undefined) return undefined
  await writeWhole(stateFile(paths.folder), JSON.stringify({ identity, port } satisfies Started))
  const ready = await poll(() => (isAlive(identity) ? answers(port, password) : false), READY_MS)
  return ready ? { identity, port } : undefined
}

const portFile = (folder: string): string => join(folder, 'port')

const lastPort = async (folder: string): Promise<number> =>
  Number(await readFile(portFile(folder), 'utf8').catch(() => '0'))

const start = async (paths: ServerPaths): Promise<string> => {
  const password = await passwordOf(paths)
  await makeOwnFolder(paths.data, paths.account)
  for (let attempt = 1; attempt <= START_TRIES; attempt += 1) {
    const port = await freePort(await lastPort(paths.folder))
    if (await launch(paths, port, password)) {
      await writeFile(portFile(paths.folder), String(port), { mode: OWNER_ONLY })
      return urlOf(port, password)
    }
    await sleep(attempt * RETRY_MS)
  }
  const said = (await readFile(paths.log, 'utf8')).slice(-LOG_TAIL).trim()
  throw new Error(`${paths.program} does not start. The end of its log: ${said}`)
}

const answering = async (paths: ServerPaths): Promise<string | undefined> => {
  const started = await readStarted(paths.folder)
  if (!started || !isAlive(started.identity)) return undefined
  const password = await passwordOf(paths)
  const ready = await poll(
    () => (isAlive(started.identity) ? answers(started.port, password) : false),
    READY_MS,
  )
  return ready ? urlOf(started.port, password) : undefined
}

const stop = async (paths: ServerPaths): Promise<void> => {
  const started = await readStarted(paths.folder)
  await rm(stateFile(paths.folder), { force: true })
  if (!started || !isAlive(started.identity)) return
  const pid = Number.parseInt(started.identity, 10)
  signalTo(pid, 'SIGTERM')
  if (await poll(() => !isAlive(started.identity) || undefined, STOP_MS)) return
  signalTo(pid, 'SIGKILL')
}

/** The embedded Redis of this folder, which runs this program of the machine. Listens only on 127.0.0.1. */
export const redisServer = async (path: string, program: string): Promise<ServerKind> => {
  await makePassable(path)
  const folder = await realpath(path)
  const paths: ServerPaths = {
    folder,
    data: join(folder, 'data'),
    log: join(folder, 'server.log'),
    program,
    account: serviceAccount(),
  }
  return { folder, running: () => answering(paths), start: () => start(paths), stop: () => stop(paths) }
}
