import { hostname } from 'node:os'
import { collectArtifact, openObjectStorage } from '@scanfarm/artifacts'
import { CLOUD_SLOTS, type ClaimedRun, type RunnerProvider } from '@scanfarm/contracts'
import { createPolledSource, Executor, executorSettings } from '@scanfarm/executor'
import type { Runners } from '@scanfarm/runners'
import type { ServerContext } from '../context.ts'
import { VERSION } from '../version.ts'
import { createSlotMetrics, type SlotKind } from './metrics.ts'

/** New runs come with a wake-up call; this only finds the ones whose call was lost. */
const POLL_MS = 1_000

export interface SlotsOptions {
  readonly kind: SlotKind
  /** As shown in lists. */
  readonly name: string
  readonly slots: number
  /** Where commands execute; closed by its owner, after the slots. */
  readonly runners: RunnerProvider
  /** The runners of this machine, which functions use as well. */
  readonly endsUsers: Pick<Runners, 'endUser'>
  claim(workerId: string, max: number): Promise<readonly ClaimedRun[]>
}

/**
 * Slots of this server, fed straight from Postgres; runs begin at once. Disposing `scope` drains them: no more runs,
 * `server.drain_ms` for those under way, the rest is handed back.
 */
export function openSlots(
  context: ServerContext,
  { kind, name, slots, runners, endsUsers, claim }: SlotsOptions,
  scope: AsyncDisposableStack,
): Executor {
  const { config, store, artifacts, log, wake, localCancels } = context
  const storage = scope.use(openObjectStorage(config.storage.s3))
  const source = createPolledSource({ claim, pollMs: POLL_MS })
  const metrics = createSlotMetrics(context.metrics, kind, () => executor.status)
  const executor = new Executor({
    ...executorSettings(config, storage, endsUsers),
    store: store.runStore,
    source,
    artifacts,
    collect: collectArtifact,
    runners,
    intro: {
      name,
      hostname: hostname(),
      pid: process.pid,
      version: VERSION,
      kind: 'server',
      slots,
      leaseMs: config.worker.leaseMs,
      // Its runs are claimed whatever they need: nobody else may take them.
      capabilities: kind === 'cloud' ? [CLOUD_SLOTS] : [],
    },
    log,
    onRunEnded: metrics.runEnded,
  })
  scope.use(wake.onWake(() => source.wake()))
  scope.use(localCancels.onCancel((runIds) => executor.checkCancels(runIds)))
  scope.defer(() => executor.drain(config.server.drainMs))
  executor.start()
  return executor
}
