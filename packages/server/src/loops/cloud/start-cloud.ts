import { startCloudLoops, type CloudLoops } from '@scanfarm/cloud'
import { workFolderOf } from '@scanfarm/executor'
import type { ServerContext } from '../../context.ts'
import { createCloudMetrics } from './metrics.ts'

/** What makes, watches and destroys machines; undefined where cloud mode is off. */
export async function startCloud(context: ServerContext): Promise<CloudLoops | undefined> {
  const { config, store, providers, log } = context
  if (!config.cloud.enabled) {
    await warnOfMachines(context)
    return undefined
  }
  const { bootMinutes, setup } = config.cloud
  const farmId = await store.farmId()
  log.info('cloud mode is on', { farm_id: farmId, providers: providers.configured })
  return startCloudLoops({
    store: store.cloud,
    providers,
    farmId,
    log,
    settings: {
      bootMinutes,
      setup,
      path: config.runner.path,
      workFolder: workFolderOf(config),
      ...context.life,
    },
    metrics: createCloudMetrics(context.metrics, store.cloud),
  })
}

const warnOfMachines = async ({ store, log }: ServerContext): Promise<void> => {
  const inUse = await store.cloud.providersInUse()
  if (inUse.length === 0) return
  log.warn('cloud mode is off, and machines of the farm may still cost money: nothing here destroys them', {
    providers: inUse,
  })
}
