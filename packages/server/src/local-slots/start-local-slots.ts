import { hostname } from 'node:os'
import { collectArtifact, openObjectStorage } from '@scanfarm/artifacts'
import {
  createLocalSource,
  Executor,
  executorSettings,
  openRunners,
  SWEEP_EVERY_MS,
  sweepLeftovers,
  type Introduction,
} from '@scanfarm/executor'
import { Loop, type Config } from '@scanfarm/platform'
import type { ServerContext } from '../context.ts'
import { VERSION } from '../version.ts'
import { createLocalMetrics } from './metrics.ts'

/** New local runs come with a wake-up call; this only finds the ones whose call was lost. */
const POLL_MS = 1_000

/**
 * The slots in which this server executes local runs itself, fed straight from Postgres. Disposing drains: no more
 * runs, `server.drain_ms` for those under way, the rest is handed back. Undefined when `local.slots` is 0.
 */
export async function startLocalSlots(context: ServerContext): Promise<AsyncDisposable | undefined> {
  const { config, store, artifacts, log, wake, localCancels } = context
  if (config.local.slots === 0) return undefined
  await using scope = new AsyncDisposableStack()
  const storage = scope.use(openObjectStorage(config.storage.s3))
  const runners = scope.use(openRunners(config, await store.farmId()))
  const source = createLocalSource({ store: store.runStore, pollMs: POLL_MS })
  const metrics = createLocalMetrics(context.metrics, () => executor.status)
  const executor = new Executor({
    ...executorSettings(config, storage),
    store: store.runStore,
    source,
    artifacts,
    collect: collectArtifact,
    runners,
    intro: introduction(config),
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
