import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, linkPrograms } from '@scanfarm/testing'
import { Client } from './client.ts'
import { Program } from './program.ts'
import { PrivatePostgres, PrivateRedis } from './services.ts'
import { openFolder, writeWorkflows } from './workflows.ts'

export { audit } from './audit.ts'
export { Client } from './client.ts'
export { jobEnded, someCompleted, submit, targets } from './jobs.ts'
export { Program, until, type ProgramEnd } from './program.ts'
export { freePort } from '@scanfarm/testing'
export { PrivatePostgres, PrivateRedis } from './services.ts'
export { lives, pidsOf } from './traces.ts'

/** The shortest lease, to lose a worker. Busy workers may be lost too, so attempts are not counted. */
export const LEASE_MS = 3_000
/** How long a stopping worker waits for its runs. */
const DRAIN_MS = 1_000
export const TOKEN = 'sft_acceptance_test_token_0123456789abcdef'
const PASSABLE = 0o711

export interface TestClusterOptions {
  readonly queue?: 'redis' | 'postgres'
  readonly masters?: number
  readonly workers?: number
  /** Runs at once on each worker. */
  readonly slots?: number
  /** Time without a heartbeat after which a worker is lost; default: that of the settings. */
  readonly leaseMs?: number
  /** Whether Postgres waits for the disk; default false. */
  readonly durable?: boolean
  /** More settings of the Postgres server, for example for a profiler. */
  readonly postgres?: Readonly<Record<string, string>>
  /** Path of the `scanfarm` script of another checkout or installation. */
  readonly program?: string
  /** The caller removes the folder. */
  readonly keepsFolder?: boolean
  /** More settings for all programs, as environment variables. */
  readonly env?: Readonly<Record<string, string>>
}

export interface Master {
  readonly program: Program
  readonly client: Client
  readonly port: number
}

interface WorkerRow {
  id: string
  name: string
  kind: string
  status: string
  slots: number
  busy_slots: number
}

/** Masters and workers as processes with own Postgres, Redis and data folders; the artifact store is shared. */
export class TestCluster implements AsyncDisposable {
  readonly folder: string
  readonly postgres: PrivatePostgres
  /** Undefined if the queue is on Postgres. */
  readonly redis: PrivateRedis | undefined
  readonly masters: Master[] = []
  readonly workers: Program[] = []
  readonly #options: TestClusterOptions
  readonly #scope: AsyncDisposableStack
  readonly #programs: Program[] = []
  #tracesMade = 0

  private constructor(
    folder: string,
    postgres: PrivatePostgres,
    redis: PrivateRedis | undefined,
    options: TestClusterOptions,
    scope: AsyncDisposableStack,
  ) {
    this.folder = folder
    this.postgres = postgres
    this.redis = redis
    this.#options = options
    this.#scope = scope
  }

  static async start(options: TestClusterOptions = {}): Promise<TestCluster> {
    const scope = new AsyncDisposableStack()
    try {
      const cluster = await TestCluster.#open(options, scope)
      for (let number = 0; number < (options.masters ?? 1); number++) await cluster.startMaster()
      const names = Array.from({ length: options.workers ?? 2 }, (_, index) => `worker-${index + 1}`)
      await Promise.all(names.map((name) => cluster.startWorker(name)))
      return cluster
    } catch (error) {
      await scope.disposeAsync()
      throw error
    }
  }

  static async #open(options: TestClusterOptions, scope: AsyncDisposableStack): Promise<TestCluster> {
    const folder = await mkdtemp(join(tmpdir(), 'scanfarm-cluster-'))
    if (options.keepsFolder !== true)
      scope.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
    await chmod(folder, PASSABLE)
    await writeWorkflows(join(folder, 'workflows'))
    await linkPrograms(join(folder, 'programs'))
    const postgres = scope.use(
      await PrivatePostgres.start(join(folder, 'postgres'), {
        durable: options.durable === true,
        settings: options.postgres,
      }),
    )
    const redis = options.queue === 'postgres' ? undefined : scope.use(await PrivateRedis.start())
    const cluster = new TestCluster(folder, postgres, redis, options, scope)
    scope.defer(() => cluster.#stopPrograms())
    return cluster
  }

  get client(): Client {
    const [master] = this.masters
    if (!master) throw new Error('the cluster has no master')
    return master.client
  }

  /** Starts a master and waits until it is ready. `port` is for a master that replaces a killed one. */
  async startMaster(port?: number, env: Readonly<Record<string, string>> = {}): Promise<Master> {
    const name = `master-${this.masters.length + 1}`
    const address = port ?? (await freePort())
    const program = this.#start(name, ['server', '--master'], { SCANFARM_HTTP_PORT: String(address), ...env })
    const master = { program, client: new Client(`http://127.0.0.1:${address}`, TOKEN), port: address }
    await program.until('was ready', async () => (await fetch(`${master.client.url}/health/ready`)).ok)
    this.masters.push(master)
    return master
  }

  /** Starts a worker and waits until it is registered. */
  async startWorker(name: string, env: Readonly<Record<string, string>> = {}): Promise<Program> {
    const program = this.#start(name, ['worker'], { SCANFARM_WORKER_NAME: name, ...env })
    await program.until('joined', async () =>
      (await this.workerRows()).some((row) => row.name === name && row.status !== 'lost'),
    )
    this.workers.push(program)
    return program
  }

  async workerRows(): Promise<WorkerRow[]> {
    const { data } = await this.client.get<{ data: WorkerRow[] }>('/workers')
    return data.filter(({ kind }) => kind === 'worker')
  }

  /** The number of messages that all masters have sent to the queue. */
  async messagesSent(): Promise<number> {
    const counts = this.masters.map(async ({ client }) =>
      Number(/^scanfarm_dispatched_total (\d+)/m.exec(await client.text('/metrics'))?.[1] ?? 0),
    )
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0)
  }

  /** Creates a folder to which commands can write, for the param `folder`. */
  async traces(): Promise<string> {
    this.#tracesMade += 1
    const folder = await openFolder(join(this.folder, `traces-${this.#tracesMade}`))
    // The commands of each workspace run as a different user, and all of them append to this file.
    const began = join(folder, 'began')
    await writeFile(began, '')
    await chmod(began, 0o666)
    return folder
  }

  #start(name: string, args: readonly string[], env: Readonly<Record<string, string>>): Program {
    const program = new Program(name, args, {
      folder: this.folder,
      path: this.#options.program,
      env: { ...this.#environment(name), ...env },
    })
    this.#programs.push(program)
    return program
  }

  #environment(name: string): Record<string, string> {
    const { leaseMs } = this.#options
    return {
      SCANFARM_DATA_DIR: join(this.folder, name),
      SCANFARM_ARTIFACTS_FOLDER: join(this.folder, 'artifacts'),
      SCANFARM_WORKFLOWS_FOLDERS: join(this.folder, 'workflows'),
      SCANFARM_AUTH_INITIAL_TOKEN: TOKEN,
      DATABASE_URL: this.postgres.url,
      ...(this.redis
        ? { REDIS_URL: this.redis.url, SCANFARM_QUEUE: 'redis' }
        : { SCANFARM_QUEUE: 'postgres' }),
      SCANFARM_RUNNER_PATH: join(this.folder, 'programs'),
      SCANFARM_WORKER_SLOTS: String(this.#options.slots ?? 4),
      SCANFARM_WORKER_DRAIN_MS: String(DRAIN_MS),
      SCANFARM_LOCAL_SLOTS: '1',
      // Compiling takes most of the start of a program: all but the first one use the cache.
      NODE_COMPILE_CACHE: join(tmpdir(), 'scanfarm-test-compile-cache'),
      ...(leaseMs === undefined ? {} : { SCANFARM_WORKER_LEASE_MS: String(leaseMs) }),
      ...this.#options.env,
    }
  }

  /** Stops the workers first, because they need masters and services to drain. */
  async #stopPrograms(): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker[Symbol.asyncDispose]()))
    await Promise.all(this.#programs.map((program) => program[Symbol.asyncDispose]()))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#scope.disposeAsync()
  }
}
