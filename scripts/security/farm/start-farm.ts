import { chmod, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { TestCluster, freePort } from '@scanfarm/cli/testing'
import { startSshServer, TEST_IMAGE, useEngine } from '@scanfarm/runners/testing'

const SLOTS = 4
const ROLES = ['viewer', 'operator', 'admin'] as const

/** Addresses, tokens and processes of the farm; passed to Jest as JSON in SCANFARM_TEST_ATTACKED_FARM. */
export interface FarmFacts {
  readonly url: string
  readonly tokens: Readonly<Record<(typeof ROLES)[number] | 'initial', string>>
  readonly databaseUrl: string
  readonly redisUrl: string
  readonly folder: string
  /** A folder that every user of the machine may write. */
  readonly canaries: string
  readonly monitors: string
  readonly master: number
  readonly workers: readonly number[]
  readonly image: string
  readonly ssh: {
    readonly host: string
    readonly user: string
    readonly keyFile: string
    readonly knownHosts: string
  }
  /** A secret that only the environment of the worker has. */
  readonly workerSecret: string
}

export interface AttackedFarm extends AsyncDisposable {
  readonly facts: FarmFacts
}

const MONITOR = join(import.meta.dirname, 'monitor.ts')
const WORKER_SECRET = 'sfs_secret_of_the_worker_process'

/** A master and two workers with their own Postgres and Redis, a docker engine, an ssh host. */
export async function startFarm(): Promise<AttackedFarm> {
  await using scope = new AsyncDisposableStack()
  const sshd = scope.use(await startSshServer())
  const engine = scope.use(await useEngine())
  const farm = scope.use(
    await TestCluster.start({ masters: 0, workers: 0, slots: SLOTS, env: settings(engine.address, sshd) }),
  )
  const monitors = join(farm.folder, 'monitors')
  const canaries = join(farm.folder, 'canaries')
  await mkdir(monitors)
  await mkdir(canaries)
  await chmod(canaries, 0o777)
  const watched = { NODE_OPTIONS: `--import=${MONITOR}`, SCANFARM_TEST_MONITOR_FOLDER: monitors }
  const master = await farm.startMaster(await freePort(), watched)
  const workers = await Promise.all(
    [1, 2].map((number) =>
      farm.startWorker(`worker-${number}`, {
        ...watched,
        // The ssh host has the same path with its own files.
        SCANFARM_WORKER_FOLDER: join(sshd.root, `work-${number}`),
        SCANFARM_NOTIFY_TELEGRAM: `telegram://${WORKER_SECRET}@1`,
      }),
    ),
  )
  const tokens = await roleTokens(farm)
  const facts: FarmFacts = {
    url: master.client.url,
    tokens,
    databaseUrl: farm.postgres.url,
    redisUrl: farm.redis?.url ?? '',
    folder: farm.folder,
    canaries,
    monitors,
    master: master.program.pid,
    workers: workers.map(({ pid }) => pid),
    image: TEST_IMAGE,
    ssh: {
      host: `127.0.0.1:${sshd.port}`,
      user: sshd.user,
      keyFile: sshd.keyFile,
      knownHosts: sshd.knownHosts,
    },
    workerSecret: WORKER_SECRET,
  }
  const running = scope.move()
  return { facts, [Symbol.asyncDispose]: () => running.disposeAsync() }
}

const settings = (engine: string, sshd: { keyFile: string; knownHosts: string }): Record<string, string> => ({
  SCANFARM_RUNNER_PATH: '',
  SCANFARM_RUNNER_DOCKER_HOST: engine,
  SCANFARM_RUNNER_SSH_KEY_FILE: sshd.keyFile,
  SCANFARM_RUNNER_SSH_KNOWN_HOSTS: sshd.knownHosts,
})

async function roleTokens(farm: TestCluster): Promise<FarmFacts['tokens']> {
  const made = await Promise.all(
    ROLES.map((role) => farm.client.post<{ token: string }>('/tokens', { name: `attack-${role}`, role })),
  )
  const [viewer = '', operator = '', admin = ''] = made.map(({ token }) => token)
  const { authorization = '' } = farm.client.callTo('/').headers
  return { viewer, operator, admin, initial: authorization.replace('Bearer ', '') }
}
