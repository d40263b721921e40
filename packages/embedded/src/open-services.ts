import { join } from 'node:path'
import { retry, searchPath, type Logger, type Secret } from '@scanfarm/platform'
import { serviceAccount } from './account.ts'
import { postgresServer } from './postgres.ts'
import { findRedisProgram } from './redis-program.ts'
import { redisServer } from './redis.ts'
import { makeDataDir, serviceFolder } from './service-folder.ts'
import { shareServer, type ServerKind, type SharedServer } from './shared-server.ts'

interface ServiceNeeds {
  /** The settings with these names. */
  readonly config: {
    readonly dataDir: string
    readonly database: { readonly url: Secret | undefined; readonly directUrl: Secret | undefined }
    readonly redis: { readonly url: Secret | undefined }
    readonly queue: { readonly kind: 'auto' | 'redis' | 'postgres' }
  }
  /** A server without `--master` needs no queue. */
  readonly need: {
    readonly queue: boolean
    /** A worker needs a farm: it uses embedded services of a master on this machine, and starts none. */
    readonly farm?: boolean
  }
  readonly log: Logger
  /** Where Redis is searched. Default: the `PATH` of this program. */
  readonly searchPath?: string
}

type QueueService =
  | { readonly kind: 'redis'; readonly url: string }
  | { readonly kind: 'postgres'; readonly url: string; readonly directUrl: string }

export interface Services extends AsyncDisposable {
  readonly databaseUrl: string
  /** Without a pooler, for notifications. */
  readonly directUrl: string
  readonly queue: QueueService | null
  /** A line for each service, without secrets. */
  readonly describe: readonly string[]
}

interface Found<T> {
  readonly value: T
  readonly line: string
}

const hostOf = (url: string): string => {
  try {
    const { hostname, port, pathname } = new URL(url)
    return `${hostname}${port && `:${port}`}${pathname}`
  } catch {
    return 'the given address'
  }
}

const share = async (scope: AsyncDisposableStack, kind: ServerKind, log: Logger): Promise<SharedServer> => {
  const server = scope.use(await shareServer(kind))
  log.info('an embedded service is ready', { folder: kind.folder, adopted: server.adopted })
  return server
}

const ownLine = (what: string, server: SharedServer, folder: string): string =>
  `${what} on ${new URL(server.url).host}, data in ${folder}${server.adopted ? ' (was running already)' : ''}`

const openDatabase = async (needs: ServiceNeeds, scope: AsyncDisposableStack): Promise<Found<string>> => {
  const given = needs.config.database.url?.reveal()
  if (given !== undefined)
    return { value: given, line: `database: Postgres at ${hostOf(given)} (DATABASE_URL)` }
  const folder = join(await serviceFolder(needs.config.dataDir, serviceAccount()), 'postgres')
  const kind = await postgresServer(folder)
  if (needs.need.farm === true) await demandRunning(kind)
  const server = await share(scope, kind, needs.log)
  return { value: server.url, line: ownLine('database: embedded Postgres', server, folder) }
}

/** How long a master that starts at the same time may take. */
const START_TURNS = 40
const START_TURN = { firstMs: 250, mostMs: 250 }

const demandRunning = (kind: ServerKind): Promise<void> =>
  retry(
    async () => {
      if ((await kind.running()) === undefined)
        throw new Error(
          'this worker has no farm: database.url (DATABASE_URL) is not set, and no server runs with this data folder. Set DATABASE_URL to the Postgres of the farm, or start `scanfarm server --master` on this machine first',
        )
    },
    { backoff: START_TURN, shouldRetry: (_error, attempt) => attempt < START_TURNS },
  )

const openRedis = async (
  needs: ServiceNeeds,
  scope: AsyncDisposableStack,
): Promise<Found<QueueService> | undefined> => {
  const program = await findRedisProgram(needs.searchPath ?? searchPath())
  if (!program) return undefined
  const folder = join(await serviceFolder(needs.config.dataDir, serviceAccount()), 'redis')
  const server = await share(scope, await redisServer(folder, program.path), needs.log)
  return {
    value: { kind: 'redis', url: server.url },
    line: ownLine(`queue: own ${program.version}`, server, folder),
  }
}

const onPostgres = (url: string, directUrl: string, why: string): Found<QueueService> => ({
  value: { kind: 'postgres', url, directUrl },
  line: `queue: Postgres (${why}); fine for up to 20 workers`,
})

const noRedis = (): Error =>
  new Error(
    'queue.kind (SCANFARM_QUEUE) is redis, but redis.url (REDIS_URL) is not set and neither redis-server nor valkey-server (6.2 or newer) is on PATH: set REDIS_URL, install redis-server, or set SCANFARM_QUEUE=postgres',
  )

/**
 * `auto` starts an embedded Redis only with an embedded database: a given database may be shared with other machines,
 * whose workers could not reach a Redis on the loopback address of this machine.
 */
const openQueue = async (
  needs: ServiceNeeds,
  databaseUrl: string,
  directUrl: string,
  scope: AsyncDisposableStack,
): Promise<Found<QueueService>> => {
  const { queue, redis, database } = needs.config
  if (queue.kind === 'postgres') return onPostgres(databaseUrl, directUrl, 'queue.kind')
  const given = redis.url?.reveal()
  if (given !== undefined)
    return {
      value: { kind: 'redis', url: given },
      line: `queue: Redis at ${hostOf(given)} (REDIS_URL)`,
    }
  if (queue.kind === 'auto' && database.url !== undefined)
    return onPostgres(databaseUrl, directUrl, 'DATABASE_URL is set and REDIS_URL is not')
  const own = await openRedis(needs, scope)
  if (own) return own
  if (queue.kind === 'redis') throw noRedis()
  return onPostgres(databaseUrl, directUrl, 'no REDIS_URL, and no redis-server or valkey-server on PATH')
}

/**
 * Opens the services of a program. Given addresses are used as they are. Other services are started in the data folder,
 * or shared with the programs that already use them, and the last of these programs stops them. Creates the data folder.
 */
export const openServices = async (needs: ServiceNeeds): Promise<Services> => {
  await using scope = new AsyncDisposableStack()
  await makeDataDir(needs.config.dataDir)
  const database = await openDatabase(needs, scope)
  const directUrl = needs.config.database.directUrl?.reveal() ?? database.value
  const queue = needs.need.queue ? await openQueue(needs, database.value, directUrl, scope) : undefined
  const describe = [database.line, ...(queue ? [queue.line] : [])]
  const opened = scope.move()
  return {
    databaseUrl: database.value,
    directUrl,
    queue: queue?.value ?? null,
    describe,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}
