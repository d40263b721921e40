import type { Logger } from '@scanfarm/platform'
import type { CloudStore } from '@scanfarm/store'
import { CloudError, type CloudProvider, type Machine } from '../provider.ts'
import { atMost } from './at-most.ts'
import type { LifeMetrics } from './look.ts'

const DESTROYED_AT_ONCE = 4
const NAMES_AT_ONCE = 1_000

export interface ReapDeps {
  readonly store: Pick<CloudStore, 'wanted'>
  readonly provider: CloudProvider
  readonly farmId: string
  readonly log: Logger
  readonly signal: AbortSignal
  readonly metrics?: LifeMetrics
}

/**
 * Destroys the farm's machines at one provider that no row wants, and those whose expiry label is past, whatever the rows
 * say. Resolves with the number of those whose end the provider accepted. Machines of other farms are left alone.
 */
export async function reapOnce(deps: ReapDeps): Promise<number> {
  const { provider, farmId, signal } = deps
  // First the machines, then the rows: a row is there before its machine is made.
  const ours = (await provider.list(farmId, signal)).filter(
    ({ labels, state }) => labels.farm === farmId && state !== 'gone',
  )
  const wanted = await wantedOf(deps, ours)
  const leftover = ours.filter((machine) => !wanted.has(machine.name) || isExpired(machine))
  let destroyed = 0
  await atMost(DESTROYED_AT_ONCE, leftover, async (machine) => {
    if (await destroy(deps, machine, wanted.has(machine.name))) destroyed += 1
  })
  return destroyed
}

async function wantedOf({ store }: ReapDeps, machines: readonly Machine[]): Promise<Set<string>> {
  const names = [...new Set(machines.map(({ name }) => name))]
  const wanted = new Set<string>()
  for (let at = 0; at < names.length; at += NAMES_AT_ONCE)
    for (const name of await store.wanted(names.slice(at, at + NAMES_AT_ONCE))) wanted.add(name)
  return wanted
}

const isExpired = ({ labels }: Machine): boolean =>
  labels.expires !== undefined && labels.expires * 1000 < Date.now()

async function destroy(
  { provider, signal, log, metrics }: ReapDeps,
  { id, name, labels }: Machine,
  isWanted: boolean,
): Promise<boolean> {
  const facts = { machine: name, id, infra_id: labels.infra, reason: isWanted ? 'expired' : 'not wanted' }
  try {
    await provider.destroy(id, signal)
  } catch (error) {
    if (!(error instanceof CloudError)) throw error
    log.warn('a leftover machine is not destroyed', { ...facts, error })
    return false
  }
  log.warn('a leftover machine is destroyed', facts)
  metrics?.leftoverDestroyed(provider.name)
  return true
}
