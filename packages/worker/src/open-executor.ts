import { hostname } from 'node:os'
import { artifactOptions, collectArtifact, openArtifactStore, openObjectStorage } from '@scanfarm/artifacts'
import { canServe, needsOf } from '@scanfarm/contracts'
import {
  commandUser,
  Executor,
  createNotifyService,
  llmSettings,
  notifySettings,
  SWEEP_EVERY_MS,
  sweepLeftovers,
  type Introduction,
  type Owner,
} from '@scanfarm/executor'
import { Loop, type Config, type Logger, type Registry } from '@scanfarm/platform'
import { createRunners, detectCapabilities, type RunnersOptions } from '@scanfarm/runners'
import type { Farm } from './open-farm.ts'
import { programsOn } from './programs.ts'
import { createQueueSource } from './queue-source.ts'
import { VERSION } from './version.ts'
import { createWorkerMetrics } from './worker-metrics.ts'

const MINUTE_MS = 60_000

/** The executor of a worker and what tidies up after crashed ones, not started; what it works with closes with `scope`. */
export async function openExecutor(
  config: Config,
  log: Logger,
  { farmId, store, queue }: Farm,
  scope: AsyncDisposableStack,
): Promise<{ executor: Executor; sweeper: Loop; metrics: Registry }> {
  const { worker, runner, runs } = config
  const artifacts = scope.use(openArtifactStore(artifactOptions(config.artifacts)))
  await artifacts.check()
  const storage = scope.use(openObjectStorage(config.storage.s3))
  const owner = commandUser(runner.user)
  const runners = scope.use(createRunners(runnerOptions(config, owner, farmId)))
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
    services: {
      storage,
      llm: llmSettings(config.llm),
      notify: createNotifyService(notifySettings(config.notify)),
    },
    limits: { stepLogBytes: runs.stepLogBytes, artifactBytes: config.artifacts.maxBytes },
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

const runnerOptions = ({ runner, runs }: Config, user: Owner | undefined, farmId: string): RunnersOptions => {
  const graceMs = runs.cancelGraceMs
  return {
    host: { graceMs, user },
    docker: { graceMs, engine: runner.dockerSocket, owner: farmId, images: runner.dockerImages },
    ssh: {
      graceMs,
      hosts: runner.sshHosts,
      keyFile: runner.sshKeyFile,
      knownHosts: runner.sshKnownHosts,
    },
  }
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
    docker: { engine: runner.dockerSocket },
    labels: worker.labels.map((label) => `label:${label}`),
  }),
})
