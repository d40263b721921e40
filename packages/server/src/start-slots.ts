import { join } from 'node:path'
import { createCloudRunners } from '@scanfarm/cloud'
import { startServerSlots } from '@scanfarm/worker'
import type { ServerContext } from './context.ts'

/** The slots in which this server executes local and cloud runs. Disposing drains them. */
export const startSlots = async (context: ServerContext): Promise<AsyncDisposable> => {
  const { config, store, providers, artifacts, metrics, notifier, localCancels, log } = context
  return await startServerSlots({
    config,
    farmId: await store.farmId(),
    store: store.runStore,
    artifacts,
    log,
    metrics,
    onNotify: (listener) => notifier.onNotify(listener),
    onCancel: (listener) => localCancels.onCancel(listener),
    openCloudRunners: (own) =>
      createCloudRunners({
        store: store.cloud,
        providers,
        log,
        keyFolder: join(config.dataDir, 'cloud-keys'),
        ssh: own,
        connections: { graceMs: config.runs.cancelGraceMs },
        onLost: () => notifier.notify(),
      }),
  })
}
