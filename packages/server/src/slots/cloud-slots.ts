import { join } from 'node:path'
import { createCloudRunners } from '@scanfarm/cloud'
import { createSweep, openRunners, SWEEP_EVERY_MS, type Executor } from '@scanfarm/executor'
import { Loop } from '@scanfarm/platform'
import type { ServerContext } from '../context.ts'
import { openSlots } from './open-slots.ts'

/**
 * The slots in which this server looks after cloud runs, whose commands execute on machines of a cloud. Undefined when
 * cloud mode is off or `cloud.slots` is 0.
 */
export async function startCloudSlots(context: ServerContext): Promise<AsyncDisposable | undefined> {
  const { config, store, providers, wake, log } = context
  const { enabled, slots } = config.cloud
  if (!enabled || slots === 0) return undefined
  await using scope = new AsyncDisposableStack()
  const own = scope.use(openRunners(config, await store.farmId()))
  const runners = scope.use(
    createCloudRunners({
      store: store.cloud,
      providers,
      log,
      keyFolder: join(config.dataDir, 'cloud-keys'),
      ssh: own,
      connections: { graceMs: config.runs.cancelGraceMs },
      onLost: () => wake.ring(),
    }),
  )
  const claim = store.runStore.claimCloud.bind(store.runStore)
  const name = `${config.worker.name} (cloud)`
  const executor = openSlots(context, { kind: 'cloud', name, slots, runners, endsUsers: own, claim }, scope)
  // Else those of the local slots do it: the folders are the same.
  if (config.local.slots === 0) scope.use(sweeping(context, executor)).start()
  return scope.move()
}

const sweeping = ({ store, config, log }: ServerContext, executor: Executor): Loop =>
  new Loop({
    name: 'sweep',
    intervalMs: SWEEP_EVERY_MS,
    log,
    turn: createSweep({
      store: store.runStore,
      runners: { sweepContainers: async () => 0 },
      executor,
      retention: config.retention,
      log,
    }),
  })
