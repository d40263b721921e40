import { hostname } from 'node:os'
import { artifactOptions, collectArtifact, openArtifactStore } from '@scanfarm/artifacts'
import { canServe, needsOf, type RunStore } from '@scanfarm/contracts'
import { commandUser, Executor, type ExecutorStatus, type Introduction } from '@scanfarm/executor'
import { createLogger, openServices, type Config, type Logger, type Registry } from '@scanfarm/platform'
import { openRunQueue, type RunQueue } from '@scanfarm/queue'
import { createHostRunners, detectCapabilities } from '@scanfarm/runners'
import { openRunStore } from '@scanfarm/store'
import { programsOn } from './programs.ts'
import { startHealthServer } from './health-server.ts'
import { meetFarm, meetQueue } from './meet-farm.ts'
import { createQueueSource } from './queue-source.ts'
import { VERSION } from './version.ts'
import { createWorkerMetrics } from './worker-metrics.ts'

export interface WorkerOverrides {
  readonly log?: Logger
  /** Ends a start that still waits for database or queue. */
  readonly stopping?: AbortSignal
}

/** Disposing drains: no more runs, `worker.drain_ms` for those under way, the rest is handed back. */
export interface RunningWorker extends AsyncDisposable {
  readonly status: ExecutorStatus
  /** `http://address:port` of health and metrics; undefined where `worker.health_port` is 0. */
  readonly healthUrl: string | undefined
}

const MINUTE_MS = 60_000

/** A whole worker. Waits for its database and queue; rejects when they are there and not fit for it. */
export async function startWorker(config: Config, overrides: WorkerOverrides = {}): Promise<RunningWorker> {
  await using scope = new AsyncDisposableStack()
  const log = (overrides.log ?? createLogger(config.log)).child({ worker: config.worker.name })
  const { store, queue } = await openFarm(config, log, overrides.stopping, scope)
  const { executor, metrics } = await makeExecutor(config, log, store, queue, scope)
  scope.use(await queue.onCancel((runIds) => executor.cancel(runIds)))
  const healthUrl = await serveHealth(config, executor, metrics, scope)
  scope.defer(() => executor.drain(config.worker.drainMs))
  executor.start()
  const running = scope.move()
  return {
    get status() {
      return executor.status
    },
    healthUrl,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

const openFarm = async (
  config: Config,
  log: Logger,
  stopping: AbortSignal = new AbortController().signal,
  scope: AsyncDisposableStack,
): Promise<{ store: RunStore; queue: RunQueue }> => {
  const services = scope.use(await openServices({ config, need: { queue: true }, log }))
  if (services.queue === null) throw new Error('a worker needs a queue, and none is configured')
  for (const line of services.describe) log.info(line)
  const farmId = await meetFarm(services.databaseUrl, log, stopping)
  const store = scope.use(
    await openRunStore({
      url: services.databaseUrl,
      poolSize: config.database.poolWorker,
      applicationName: `scanfarm worker ${config.worker.name}`,
      log: (message, facts) => log.warn(message, facts),
    }),
  )
  const queue = scope.use(await openRunQueue(services.queue, { farmId, role: 'worker', log }))
  await meetQueue(queue, log, stopping)
  return { store, queue }
}

const makeExecutor = async (
  config: Config,
  log: Logger,
  store: RunStore,
  queue: RunQueue,
  scope: AsyncDisposableStack,
): Promise<{ executor: Executor; metrics: Registry }> => {
  const { worker, runner, runs } = config
  const artifacts = scope.use(openArtifactStore(artifactOptions(config.artifacts)))
  await artifacts.check()
  const owner = commandUser(runner.user)
  const runners = scope.use(createHostRunners({ graceMs: runs.cancelGraceMs, user: owner }))
  const intro = await introduce(config)
  const consumer = scope.use(
    queue.consumer({ serves: (requirementClass) => canServe(intro.capabilities, needsOf(requirementClass)) }),
  )
  const metrics = createWorkerMetrics(() => executor.status)
  const executor = new Executor({
    store,
    source: createQueueSource({ store, consumer }),
    artifacts,
    collect: collectArtifact,
    runners,
    intro,
    folder: worker.folder,
    owner,
    path: runner.path,
    graceMs: runs.cancelGraceMs,
    expressionMs: runs.expressionMs,
    defaultTimeoutMs: runs.maxMinutes === 0 ? undefined : runs.maxMinutes * MINUTE_MS,
    limits: { stepLogBytes: runs.stepLogBytes, artifactBytes: config.artifacts.maxBytes },
    log,
    onRunEnded: metrics.runEnded,
  })
  return { executor, metrics: metrics.registry }
}

const introduce = async ({ worker, runner }: Config): Promise<Introduction> => ({
  name: worker.name,
  hostname: hostname(),
  pid: process.pid,
  version: VERSION,
  kind: 'worker',
  slots: worker.slots,
  leaseMs: worker.leaseMs,
  capabilities: await detectCapabilities({
    tools: await programsOn(runner.path),
    path: runner.path,
    labels: worker.labels.map((label) => `label:${label}`),
  }),
})

const serveHealth = async (
  { http, worker }: Config,
  executor: Executor,
  metrics: Registry,
  scope: AsyncDisposableStack,
): Promise<string | undefined> => {
  if (worker.healthPort === 0) return undefined
  const unready = (): string => {
    const { joined, silenceMs } = executor.status
    if (!joined) return 'the database does not know this worker yet'
    return silenceMs > worker.leaseMs
      ? `the database has not answered for ${Math.round(silenceMs / 1000)} s`
      : ''
  }
  const server = scope.use(
    await startHealthServer({ host: http.host, port: worker.healthPort, metrics, unready }),
  )
  return server.url
}
