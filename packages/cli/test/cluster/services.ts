import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findRedisProgram, postgresServer, type ServerKind } from '@scanfarm/embedded'
import { freePort } from '@scanfarm/testing'
import { PROGRAM, until } from './program.ts'

/** A Redis of one test cluster. It stores nothing on disk, so it is empty after a kill and a restart. */
export class PrivateRedis implements AsyncDisposable {
  readonly #port: number
  readonly #program: string
  #child: ChildProcess | undefined

  private constructor(port: number, program: string) {
    this.#port = port
    this.#program = program
  }

  static async start(): Promise<PrivateRedis> {
    const program = await findRedisProgram(process.env.PATH ?? '')
    if (!program) throw new Error('redis-server is not on PATH: install it (apt-get install redis-server)')
    const redis = new PrivateRedis(await freePort(), program.path)
    await redis.start()
    return redis
  }

  get url(): string {
    return `redis://127.0.0.1:${this.#port}`
  }

  async start(): Promise<void> {
    const settings = {
      port: this.#port,
      bind: '127.0.0.1',
      save: '',
      appendonly: 'no',
      'maxmemory-policy': 'noeviction',
    }
    const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])
    this.#child = spawn(this.#program, args, { stdio: 'ignore', cwd: '/' })
    await once(this.#child, 'spawn')
    await until('Redis answers', async () => (await this.command('PING')).startsWith('+PONG'))
  }

  /** Sends SIGKILL. All data is lost. */
  async kill(): Promise<void> {
    if (this.#child === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await ended
  }

  /** Sends one inline command and returns the first bytes of the reply. */
  async command(line: string): Promise<string> {
    const socket = connect({ port: this.#port, host: '127.0.0.1' })
    try {
      await once(socket, 'connect')
      socket.write(`${line}\r\n`)
      const [reply] = (await once(socket, 'data')) as [Buffer]
      return reply.toString()
    } finally {
      socket.destroy()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
  }
}

const NOT_DURABLE = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }

const ROOT = join(import.meta.dirname, '../../../..')
const CACHE = join(ROOT, '.cache')
const PASSABLE = 0o711
const copy = (from: string, to: string) => promisify(execFile)('cp', ['-a', from, to])

/** Changes with the version of Postgres, with what makes its data folder, and with the schema. */
const findTemplateName = async (): Promise<string> => {
  const hash = createHash('sha256')
  const sql = await readdir(join(ROOT, 'packages/store/sql'), { recursive: true })
  const paths = sql.filter((path) => path.endsWith('.sql')).map((path) => `packages/store/sql/${path}`)
  const others = ['pnpm-lock.yaml', 'packages/embedded/src/postgres.ts', 'packages/store/src/migrate.ts']
  for (const path of [...others, ...paths.sort()]) hash.update(path).update(await readFile(join(ROOT, path)))
  return `postgres-${hash.digest('hex').slice(0, 16)}`
}
let templateName: Promise<string> | undefined

const makeTemplate = async (template: string): Promise<void> => {
  const work = await mkdtemp(join(tmpdir(), 'scanfarm-postgres-'))
  const unfinished = `${template}-${randomUUID()}`
  try {
    await chmod(work, PASSABLE)
    const made = join(work, 'postgres')
    const server = await postgresServer(made, { settings: NOT_DURABLE })
    const DATABASE_URL = await server.start()
    await promisify(execFile)(PROGRAM, ['migrate'], { env: { ...process.env, DATABASE_URL } })
    await server.stop()
    // Its copies run at the same time.
    await rm(join(made, 'port'))
    await mkdir(CACHE, { recursive: true })
    await copy(made, unfinished)
    await rename(unfinished, template).catch((error: unknown) => {
      // Another process was faster.
      if (!existsSync(template)) throw error
    })
  } finally {
    await rm(unfinished, { recursive: true, force: true })
    await rm(work, { recursive: true, force: true })
  }
}

/** The folder of a server with an empty, migrated database. Making it takes longer than a copy. */
const copyTemplate = async (folder: string): Promise<void> => {
  const template = join(CACHE, await (templateName ??= findTemplateName()))
  if (!existsSync(template)) await makeTemplate(template)
  await copy(template, folder)
}

/** A Postgres of one test cluster. It can be stopped and restarted at the same address. */
export class PrivatePostgres implements AsyncDisposable {
  readonly #server: ServerKind
  readonly url: string

  private constructor(server: ServerKind, url: string) {
    this.#server = server
    this.url = url
  }

  /** With `durable: false`, it does not wait for the disk. `settings` are added to those of the server. */
  static async start(
    folder: string,
    options: { durable: boolean; settings?: Readonly<Record<string, string>> },
  ): Promise<PrivatePostgres> {
    const settings = { ...(options.durable ? {} : NOT_DURABLE), ...options.settings }
    await copyTemplate(folder)
    const server = await postgresServer(folder, { settings })
    return new PrivatePostgres(server, await server.start())
  }

  async stop(): Promise<void> {
    await this.#server.stop()
  }

  async restart(): Promise<void> {
    const url = await this.#server.start()
    if (url !== this.url) throw new Error('Postgres restarted at another address: its port is in use')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }
}
