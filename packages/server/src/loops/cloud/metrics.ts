import type { LifeMetrics } from '@scanfarm/cloud'
import { Counter, Gauge, type Registry } from '@scanfarm/platform'
import type { CloudStore } from '@scanfarm/store'

export const createCloudMetrics = (
  registry: Registry,
  store: Pick<CloudStore, 'countMachines'>,
): LifeMetrics => {
  const registers = [registry]
  const moves = new Counter({
    name: 'scanfarm_cloud_machine_moves_total',
    help: 'Machines that this server moved to another status, by provider and that status',
    labelNames: ['provider', 'to'],
    registers,
  })
  const leftovers = new Counter({
    name: 'scanfarm_cloud_leftovers_destroyed_total',
    help: 'Machines that this server destroyed because the farm did not want them any more',
    labelNames: ['provider'],
    registers,
  })
  new Gauge({
    name: 'scanfarm_cloud_machines',
    help: 'Machines of the farm that are not known to be gone, by provider and status',
    labelNames: ['provider', 'status'],
    registers,
    async collect() {
      // Without the database there is nothing to tell, but all the other metrics are worth having.
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
