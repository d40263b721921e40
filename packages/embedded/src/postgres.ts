import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chown, open, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { credentials, serviceAccount, type Account } from './account.ts'
import { freePort } from './free-port.ts'
import { poll } from './poll.ts'
import { makePassable, OWNER_ONLY } from './private-folder.ts'
import { findPostmaster, removeStalePidFile, stopPostmaster, type Postmaster } from './postmaster.ts'
import { postgresPrograms, type PostgresPrograms } from './postgres-binaries.ts'
import { keptPassword, makeOwnFolder } from './service-folder.ts'
import type { ServerKind } from './shared-server.ts'

const USER = 'scanfarm'
const DATABASE = 'scanfarm'
const READY_MS = 300_000
/** Eleven seconds in total, with growing waits: processes of a killed server may need that long to exit. */
const START_TRIES = 10
const RETRY_MS = 200
const LOG_TAIL = 2_000

interface PostgresOptions {
  /** Additional server settings, for example `{ fsync: 'off' }` for tests. */
  readonly settings?: Readonly<Record<string, string>>
}

interface Cluster {
  readonly folder: string
  readonly data: string
  readonly log: string
  readonly account: Account
  readonly settings: Readonly<Record<string, string>>
}

const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  // One log file per day, which is overwritten after a week.
  logging_collector: 'on',
  log_filename: 'postgres-%a.log',
  log_rotation_age: '1d',
  log_truncate_on_rotation: 'on',
}

/** Nothing is inherited: variables like `PGDATA` or `PGPORT` would change the server. */
const SERVER_ENV = { LC_ALL: 'C.UTF-8', PATH: '/usr/bin:/bin', TZ: 'UTC' }

const run = async (account: Account, program: string, args: readonly string[], input = ''): Promise<void> => {
  const child = spawn(program, args, { ...credentials(account), cwd: '/', env: SERVER_ENV })
  let output = ''
  const keep = (chunk: Buffer): void => void (output = (output + String(chunk)).slice(-LOG_TAIL))
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  child.stdin.on('error', () => undefined).end(input)
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`${program} failed (exit code ${code}): ${output.trim()}`)
}

const initialise = async ({ folder, data, account }: Cluster, programs: string): Promise<void> => {
  const unfinished = `${data}.unfinished`
  const passwordFile = join(folder, 'password.init')
  await rm(unfinished, { recursive: true, force: true })
  await makeOwnFolder(unfinished, account)
  await writeFile(passwordFile, await keptPassword(join(folder, 'password')), { mode: 0o600 })
  if (account.drop) await chown(passwordFile, account.uid, account.gid)
  await run(account, join(programs, 'bin/initdb'), [
    `--pgdata=${unfinished}`,
    `--username=${USER}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale-provider=builtin',
    '--locale=C.UTF-8',
  ])
  await rm(passwordFile)
  const create = `create database ${DATABASE};\n`
  await run(account, join(programs, 'bin/postgres'), ['--single', '-D', unfinished, 'postgres'], create)
  await rename(unfinished, data)
}

const checkVersion = async ({ data }: Cluster, { major }: PostgresPrograms): Promise<void> => {
  const stored = (await readFile(join(data, 'PG_VERSION'), 'utf8')).trim()
  if (stored !== major)
    throw new Error(
      `${data} was made by Postgres ${stored} but this version brings Postgres ${major}: copy the data over with pg_dump of the older version, or set DATABASE_URL`,
    )
}

const logTail = async (file: string): Promise<string> =>
  (await readFile(file, 'utf8')).slice(-LOG_TAIL).trim()

/** Detached, so that Ctrl-C only signals this program, and the database stops last. */
const launch = async (cluster: Cluster, programs: string, port: number): Promise<Postmaster | undefined> => {
  const log = await open(cluster.log, 'w', 0o600)
  const settings = { ...SETTINGS, ...cluster.settings, port: String(port) }
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const child = spawn(join(programs, 'bin/postgres'), ['-D', cluster.data, ...args], {
    ...credentials(cluster.account),
    cwd: '/',
    env: SERVER_ENV,
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
  })
  try {
    await once(child, 'spawn')
  } finally {
    await log.close()
  }
  child.unref()
  const started = await poll(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return 'exited'
    const postmaster = await findPostmaster(cluster.data)
    return postmaster?.ready ? postmaster : undefined
  }, READY_MS)
  return started === 'exited' ? undefined : started
}

const urlOf = async ({ folder }: Cluster, port: number): Promise<string> =>
  `postgres://${USER}:${await keptPassword(join(folder, 'password'))}@127.0.0.1:${port}/${DATABASE}`

const lastPort = async (folder: string): Promise<number> =>
  Number(await readFile(join(folder, 'port'), 'utf8').catch(() => '0'))

/** Tries again if another program took the port, or if processes of a killed server still exist. */
const startCluster = async (cluster: Cluster): Promise<string> => {
  const programs = await postgresPrograms(cluster.folder, cluster.account)
  if (!existsSync(cluster.data)) await initialise(cluster, programs.folder)
  await checkVersion(cluster, programs)
  await removeStalePidFile(cluster.data)
  for (let attempt = 1; attempt <= START_TRIES; attempt += 1) {
    const port = await freePort(await lastPort(cluster.folder))
    const postmaster = await launch(cluster, programs.folder, port)
    if (postmaster) {
      await writeFile(join(cluster.folder, 'port'), String(port), { mode: OWNER_ONLY })
      return urlOf(cluster, port)
    }
    await sleep(attempt * RETRY_MS)
  }
  throw new Error(`Postgres does not start. The end of its log: ${await logTail(cluster.log)}`)
}

const answering = async (cluster: Cluster): Promise<string | undefined> => {
  const found = await poll(async () => {
    const postmaster = await findPostmaster(cluster.data)
    // After TERM it refuses connections and waits until the open ones end.
    if (postmaster?.stopping) await stopPostmaster(postmaster)
    return postmaster === undefined || postmaster.ready ? { postmaster } : undefined
  }, READY_MS)
  return found?.postmaster && urlOf(cluster, found.postmaster.port)
}

/** The embedded Postgres of this folder. Listens only on 127.0.0.1. */
export const postgresServer = async (path: string, options: PostgresOptions = {}): Promise<ServerKind> => {
  await makePassable(path)
  const folder = await realpath(path)
  const cluster: Cluster = {
    folder,
    data: join(folder, 'cluster'),
    log: join(folder, 'server.log'),
    account: serviceAccount(),
    settings: options.settings ?? {},
  }
  return {
    folder,
    running: () => answering(cluster),
    start: () => startCluster(cluster),
    stop: async () => {
      const postmaster = await findPostmaster(cluster.data)
      if (postmaster) await stopPostmaster(postmaster)
    },
  }
}
