import { hostname } from 'node:os'
import { collectArtifact, openObjectStorage } from '@scanfarm/artifacts'
import {
  commandUser,
  createLocalSource,
  Executor,
  createNotifyService,
  llmSettings,
  notifySettings,
  SWEEP_EVERY_MS,
  sweepLeftovers,
  type Introduction,
  type Owner,
} from '@scanfarm/executor'
import { Loop, type Config } from '@scanfarm/platform'
import { createRunners, type Runners } from '@scanfarm/runners'
import type { ServerContext } from '../context.ts'
import { VERSION } from '../version.ts'
import { createLocalMetrics } from './metrics.ts'

/** New local runs come with a wake-up call; this only finds the ones whose call was lost. */
const POLL_MS = 1_000
const MINUTE_MS = 60_000

/**
 * The slots in which this server executes local runs itself, fed straight from Postgres. Disposing drains: no more
 * runs, `server.drain_ms` for those under way, the rest is handed back. Undefined when `local.slots` is 0.
 */
export async function startLocalSlots(context: ServerContext): Promise<AsyncDisposable | undefined> {
  const { config, store, artifacts, log, wake, localCancels } = context
  if (config.local.slots === 0) return undefined
  const { runner, runs, worker } = config
  await using scope = new AsyncDisposableStack()
  const storage = scope.use(openObjectStorage(config.storage.s3))
  const owner = commandUser(runner.user)
  const runners = scope.use(runnersOf(config, await store.farmId(), owner))
  const source = createLocalSource({ store: store.runStore, pollMs: POLL_MS })
  const metrics = createLocalMetrics(context.metrics, () => executor.status)
  const executor = new Executor({
    store: store.runStore,
    source,
    artifacts,
    collect: collectArtifact,
    runners,
    intro: introduction(config),
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
  scope.use(wake.onWake(() => source.wake()))
  scope.use(localCancels.onCancel((runIds) => executor.cancel(runIds)))
  scope.defer(() => executor.drain(config.server.drainMs))
  executor.start()
  const sweeper = scope.use(
    new Loop({
      name: 'sweep',
      intervalMs: SWEEP_EVERY_MS,
      log,
      turn: () => sweepLeftovers({ store: store.runStore, runners, folder: executor.folder, log }),
    }),
  )
  sweeper.start()
  return scope.move()
}

const runnersOf = ({ runner, runs }: Config, farmId: string, user: Owner | undefined): Runners => {
  const graceMs = runs.cancelGraceMs
  return createRunners({
    host: { graceMs, user },
    docker: { engine: runner.dockerSocket, owner: farmId, graceMs, images: runner.dockerImages },
    ssh: { graceMs, keyFile: runner.sshKeyFile, knownHosts: runner.sshKnownHosts, hosts: runner.sshHosts },
  })
}

/** Local runs are claimed whatever they need: they belong to this server. */
const introduction = ({ worker, local }: Config): Introduction => ({
  name: worker.name,
  hostname: hostname(),
  pid: process.pid,
  version: VERSION,
  kind: 'server',
  slots: local.slots,
  leaseMs: worker.leaseMs,
  capabilities: [],
})
