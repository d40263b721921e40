import { createSweep, logFolders, logIsolation, openRunners, SWEEP_EVERY_MS } from '@scanfarm/executor'
import { Loop } from '@scanfarm/platform'
import type { ServerContext } from '../context.ts'
import { openSlots } from './open-slots.ts'

/**
 * The slots in which this server executes local runs itself, and what tidies up after crashed ones. Undefined when
 * `local.slots` is 0.
 */
export async function startLocalSlots(context: ServerContext): Promise<AsyncDisposable | undefined> {
  const { config, store, log } = context
  const { slots } = config.local
  if (slots === 0) return undefined
  await using scope = new AsyncDisposableStack()
  logIsolation(config, log)
  logFolders(config, log)
  const runners = scope.use(openRunners(config, await store.farmId()))
  const claim = store.runStore.claimLocal.bind(store.runStore)
  const executor = openSlots(
    context,
    { kind: 'local', name: config.worker.name, slots, runners, endsUsers: runners, claim },
    scope,
  )
  const sweeper = scope.use(
    new Loop({
      name: 'sweep',
      intervalMs: SWEEP_EVERY_MS,
      log,
      turn: createSweep({ store: store.runStore, runners, executor, retention: config.retention, log }),
    }),
  )
  sweeper.start()
  return scope.move()
}
