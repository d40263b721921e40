import type { ProvisioningMetrics } from '@scanfarm/cloud'
import { Counter, Gauge, type Registry } from '@scanfarm/platform'
import type { CloudStore } from '@scanfarm/store'

export const createCloudMetrics = (
  registry: Registry,
  store: Pick<CloudStore, 'countMachines'>,
): ProvisioningMetrics => {
  const registers = [registry]
  const moves = new Counter({
    name: 'scanfarm_cloud_machine_moves_total',
    help: 'Status changes of machines made by this server, by provider and new status',
    labelNames: ['provider', 'to'],
    registers,
  })
  const leftovers = new Counter({
    name: 'scanfarm_cloud_leftovers_destroyed_total',
    help: 'Leftover machines that this server destroyed, by provider',
    labelNames: ['provider'],
    registers,
  })
  new Gauge({
    name: 'scanfarm_cloud_machines',
    help: 'Machines of the farm that are not known to be gone, by provider and status',
    labelNames: ['provider', 'status'],
    registers,
    async collect() {
      // A failing database must not fail the other metrics.
      const counts = await store.countMachines().catch(() => [])
      this.reset()
      for (const { provider, status, count } of counts) this.set({ provider, status }, count)
    },
  })
  return {
    moved: (provider, to) => moves.inc({ provider, to }),
    leftoverDestroyed: (provider) => leftovers.inc({ provider }),
  }
}
