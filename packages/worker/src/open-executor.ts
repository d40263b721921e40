import { hostname } from 'node:os'
import { artifactOptions, collectArtifact, openArtifactStore, openObjectStorage } from '@scanfarm/artifacts'
import { canServe, needsOf } from '@scanfarm/contracts'
import {
  Executor,
  executorSettings,
  logFolders,
  logIsolation,
  openRunners,
  SWEEP_EVERY_MS,
  sweepLeftovers,
  type Introduction,
} from '@scanfarm/executor'
import { Loop, type Config, type Logger, type Registry } from '@scanfarm/platform'
import { detectCapabilities, engineAddress } from '@scanfarm/runners'
import type { Farm } from './open-farm.ts'
import { programsOn } from './programs.ts'
import { createQueueSource } from './queue-source.ts'
import { VERSION } from './version.ts'
import { createWorkerMetrics } from './worker-metrics.ts'

/** The executor of a worker and what tidies up after crashed ones, not started; what it works with closes with `scope`. */
export async function openExecutor(
  config: Config,
  log: Logger,
  { farmId, store, queue }: Farm,
  scope: AsyncDisposableStack,
): Promise<{ executor: Executor; sweeper: Loop; metrics: Registry }> {
  const artifacts = scope.use(openArtifactStore(artifactOptions(config.artifacts)))
  await artifacts.check()
  const storage = scope.use(openObjectStorage(config.storage.s3))
  logIsolation(config, log)
  logFolders(config, log)
  const runners = scope.use(openRunners(config, farmId))
  const intro = await introduce(config)
  const consumer = scope.use(
    queue.consumer({ serves: (requirementClass) => canServe(intro.capabilities, needsOf(requirementClass)) }),
  )
  const metrics = createWorkerMetrics(() => executor.status)
  const executor = new Executor({
    ...executorSettings(config, storage, runners),
    store,
    source: createQueueSource({ store, consumer }),
    artifacts,
    collect: collectArtifact,
    runners,
    intro,
    log,
    onRunEnded: metrics.runEnded,
  })
  const sweeper = scope.use(
    new Loop({
      name: 'sweep',
      intervalMs: SWEEP_EVERY_MS,
      log,
      turn: () => sweepLeftovers({ store, runners, folder: executor.folder, log }),
    }),
  )
  return { executor, sweeper, metrics: metrics.registry }
}

const introduce = async ({ worker, runner, folders }: Config): Promise<Introduction> => ({
  name: worker.name,
  hostname: hostname(),
  pid: process.pid,
  version: VERSION,
  kind: 'worker',
  slots: worker.slots,
  leaseMs: worker.leaseMs,
  capabilities: await detectCapabilities({
    tools: await programsOn(`${folders.binaries}:${runner.path}`),
    path: `${folders.binaries}:${runner.path}`,
    docker: engineAddress(runner),
    labels: worker.labels.map((label) => `label:${label}`),
  }),
})
