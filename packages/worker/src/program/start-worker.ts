import { artifactOptions, openArtifactStore } from '@scanfarm/artifacts'
import { canServe, needsOf } from '@scanfarm/contracts'
import { createLogger, createMetrics, type Logger, type Registry } from '@scanfarm/platform'
import type { Executor } from '../slots/executor.ts'
import type { ExecutorStatus } from '../slots/options.ts'
import { logMachine, openMachine, openSlots, openSweep } from '../slots/open-slots.ts'
import { createQueueSource } from '../slots/run-sources.ts'
import { enforcedCapabilities } from '../network/open-firewall.ts'
import { Capabilities } from '../tools/capabilities.ts'
import { ToolVersions } from '../tools/tool-versions.ts'
import { toolSearch } from '../tools/tool-search.ts'
import { startHealthServer } from './health-server.ts'
import { openWorkerServices } from './open-services.ts'
import type { WorkerConfig } from '../settings/settings.ts'

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
  /** Resolves when an operator asks over the API that this program ends. */
  readonly stopRequested: Promise<unknown>
}

/** Starts a worker. Waits for its database and queue; rejects when their versions or settings do not fit. */
export async function startWorker(
  config: WorkerConfig,
  overrides: WorkerOverrides = {},
): Promise<RunningWorker> {
  await using scope = new AsyncDisposableStack()
  const { worker, runner } = config
  const log = (overrides.log ?? createLogger(config.log)).child({ worker: worker.name })
  const stopping = overrides.stopping ?? new AbortController().signal
  const { farmId, store, queue } = await openWorkerServices(config, log, stopping, scope)
  const artifacts = scope.use(openArtifactStore(artifactOptions(config.artifacts)))
  await artifacts.check()
  const metrics = createMetrics()
  const host = { config, farmId, store, artifacts, log, metrics }
  logMachine(host)
  const machine = await openMachine(host, scope)
  const search = toolSearch(config, machine)
  const toolVersions = new ToolVersions({ search, log })
  const capabilities = new Capabilities({
    search,
    docker: runner,
    labels: worker.labels,
    always: enforcedCapabilities(machine.enforcement),
    log,
  })
  await capabilities.detectFirst()
  const consumer = scope.use(
    queue.consumer({
      serves: (requirementClass) => canServe(capabilities.current, needsOf(requirementClass)),
    }),
  )
  const executor = openSlots(host, {
    kind: 'worker',
    name: worker.name,
    slots: worker.slots,
    capabilities: capabilities.current,
    source: createQueueSource({ store, consumer }),
    machine,
    toolVersions,
  })
  const sweep = scope.use(openSweep(host, executor, machine.runners))
  const tools = scope.use(capabilities.watch((found) => executor.offer(found)))
  const versions = scope.use(
    toolVersions.watch(
      () => capabilities.tools,
      (found) => executor.report(found),
    ),
  )
  scope.use(
    await queue.onSignal(
      ({ runIds, workerIds }) => {
        executor.checkCancels(runIds)
        executor.checkWanted(workerIds)
      },
      () => executor.checkAll(),
    ),
  )
  const healthUrl = await serveHealth(config, executor, metrics, scope)
  scope.defer(() => executor.drain(worker.drainMs))
  executor.start()
  void executor.joined.then(() => sweep.start())
  tools.start()
  versions.start()
  const running = scope.move()
  return {
    get status() {
      return executor.status
    },
    healthUrl,
    stopRequested: executor.stopRequested,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

const serveHealth = async (
  { http, worker }: WorkerConfig,
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
