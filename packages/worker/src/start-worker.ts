import type { Executor, ExecutorStatus } from '@scanfarm/executor'
import { createLogger, type Config, type Logger, type Registry } from '@scanfarm/platform'
import { startHealthServer } from './health-server.ts'
import { openExecutor } from './open-executor.ts'
import { openFarm } from './open-farm.ts'

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

/** A whole worker. Waits for its database and queue; rejects when they are there and not fit for it. */
export async function startWorker(config: Config, overrides: WorkerOverrides = {}): Promise<RunningWorker> {
  await using scope = new AsyncDisposableStack()
  const log = (overrides.log ?? createLogger(config.log)).child({ worker: config.worker.name })
  const farm = await openFarm(config, log, overrides.stopping ?? new AbortController().signal, scope)
  const { executor, loops, metrics } = await openExecutor(config, log, farm, scope)
  scope.use(await farm.queue.onCancel((runIds) => executor.checkCancels(runIds)))
  const healthUrl = await serveHealth(config, executor, metrics, scope)
  scope.defer(() => executor.drain(config.worker.drainMs))
  executor.start()
  for (const loop of loops) loop.start()
  const running = scope.move()
  return {
    get status() {
      return executor.status
    },
    healthUrl,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

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
  const { host } = http
  const server = scope.use(await startHealthServer({ host, port: worker.healthPort, metrics, unready }))
  return server.url
}
