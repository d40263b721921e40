import { startProvisioning } from '@scanfarm/cloud'
import type { Loops } from '@scanfarm/platform'
import { workFolderOf } from '@scanfarm/worker'
import type { ServerContext } from '../context.ts'
import { createCloudMetrics } from './metrics.ts'

/** Starts the provisioning of machines; undefined when cloud mode is off. */
export async function startCloud(context: ServerContext): Promise<Loops | undefined> {
  const { config, store, providers, log } = context
  if (!config.cloud.enabled) {
    await warnOfMachines(context)
    return undefined
  }
  const { setup } = config.cloud
  const farmId = await store.farmId()
  log.info('cloud mode is on', { farm_id: farmId, providers: providers.configured })
  return startProvisioning({
    store: store.cloud,
    providers,
    farmId,
    log,
    settings: { setup, path: config.runner.path, workFolder: workFolderOf(config), ...context.provisioning },
    metrics: createCloudMetrics(context.metrics, store.cloud),
  })
}

const warnOfMachines = async ({ store, log }: ServerContext): Promise<void> => {
  const inUse = await store.cloud.providersInUse()
  if (inUse.length === 0) return
  log.warn(
    'cloud mode is off, but the farm still has machines, which may cost money: this server does not destroy them',
    { providers: inUse },
  )
}
