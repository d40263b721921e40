import type { CloudStore } from '@scanfarm/store'
import { CloudError, type Machine } from '../provider.ts'
import { forEachParallel, type ReconcileDeps } from './reconciliation.ts'

const PARALLEL_DESTROYS = 4
const NAMES_IN_A_QUERY = 1_000

export interface ReapOptions extends Omit<ReconcileDeps, 'owner' | 'settings' | 'store'> {
  readonly store: Pick<CloudStore, 'filterWanted'>
}

/**
 * Destroys the farm's machines at one provider that have no row in use, and those whose expiry label has passed, whatever
 * their rows say. Resolves with the number of accepted destroy calls. Never touches machines of other farms.
 */
export async function reapMachines(options: ReapOptions): Promise<number> {
  const { provider, farmId, signal } = options
  // Machines before rows: the row of a machine is inserted before the machine is created.
  const ours = (await provider.list(farmId, signal)).filter(
    ({ labels, state }) => labels.farm === farmId && state !== 'gone',
  )
  const wanted = await wantedNames(options, ours)
  const leftover = ours.filter((machine) => !wanted.has(machine.name) || isExpired(machine))
  let destroyed = 0
  await forEachParallel(PARALLEL_DESTROYS, leftover, async (machine) => {
    const reason = wanted.has(machine.name) ? 'expired' : 'not wanted'
    if (await destroy(options, machine, reason)) destroyed += 1
  })
  return destroyed
}

async function wantedNames({ store }: ReapOptions, machines: readonly Machine[]): Promise<Set<string>> {
  const names = [...new Set(machines.map(({ name }) => name))]
  const wanted = new Set<string>()
  for (let at = 0; at < names.length; at += NAMES_IN_A_QUERY)
    for (const name of await store.filterWanted(names.slice(at, at + NAMES_IN_A_QUERY))) wanted.add(name)
  return wanted
}

const isExpired = ({ labels }: Machine): boolean =>
  labels.expires !== undefined && labels.expires * 1000 < Date.now()

async function destroy(
  { provider, signal, log, metrics }: ReapOptions,
  { id, name, labels }: Machine,
  reason: string,
): Promise<boolean> {
  const facts = { machine: name, id, infra_id: labels.infra, reason }
  try {
    await provider.destroy(id, signal)
  } catch (error) {
    if (!(error instanceof CloudError)) throw error
    log.warn('a leftover machine was not destroyed', { ...facts, error })
    return false
  }
  log.warn('a leftover machine is destroyed', facts)
  metrics?.leftoverDestroyed(provider.name)
  return true
}
