import type { InstanceStatus } from '@scanfarm/contracts'
import type { Logger } from '@scanfarm/platform'
import type { CloudStore, InfraRecord, InstanceRecord } from '@scanfarm/store'
import type { CloudProvider, Machine } from '../provider.ts'
import type { ProvisioningSettings } from './settings.ts'

export interface ProvisioningMetrics {
  moved(provider: string, to: InstanceStatus): void
  /** A machine that the farm does not use was destroyed. */
  leftoverDestroyed(provider: string): void
}

export interface ReconcileDeps {
  readonly store: CloudStore
  readonly provider: CloudProvider
  readonly farmId: string
  /** Holder of the lease of the infrastructure. */
  readonly owner: string
  readonly settings: ProvisioningSettings
  readonly log: Logger
  /** Aborts when the lease is lost or this process ends. */
  readonly signal: AbortSignal
  readonly metrics?: ProvisioningMetrics
}

/** A machine as the provider shows it. `pending`: created so recently that it may not be listed yet. */
export type Observation =
  | { readonly kind: 'found'; readonly machine: Machine }
  | { readonly kind: 'gone' }
  | { readonly kind: 'pending' }

export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError'
}

/** One pass over one infrastructure: its rows, the provider's list of machines, read at most once, and the next pass. */
export class Reconciliation {
  readonly deps: ReconcileDeps
  /** Time until the next pass. */
  afterMs = 0
  #infra: InfraRecord
  #listed: Promise<Machine[]> | undefined

  constructor(infra: InfraRecord, deps: ReconcileDeps) {
    this.#infra = infra
    this.deps = deps
  }

  /** The rows as of the last `refresh`. */
  get infra(): InfraRecord {
    return this.#infra
  }

  /** Renews the lease and reads the rows again. Rejects with a `LeaseLostError`. */
  async refresh(): Promise<void> {
    const { store, owner, settings } = this.deps
    const infra = await store.renew(this.#infra.no, owner, settings.leaseMs)
    if (infra === undefined) throw new LeaseLostError('another server holds the lease of the infrastructure')
    this.#infra = infra
  }

  instancesIn(...statuses: readonly InstanceStatus[]): InstanceRecord[] {
    return this.infra.instances.filter(({ status }) => statuses.includes(status))
  }

  /** Delays the next pass by at least this time. */
  defer(ms: number | undefined): void {
    this.afterMs = Math.max(this.afterMs, ms ?? 0)
  }

  /** The provider's machines of this name. Machines that are stopping come last. */
  async machinesNamed(name: string): Promise<Machine[]> {
    const found = (await this.#list()).filter((machine) => machine.name === name && machine.state !== 'gone')
    return found.sort((one, other) => Number(one.state === 'stopping') - Number(other.state === 'stopping'))
  }

  async observe(instance: InstanceRecord): Promise<Observation> {
    const { resourceId, createStartedMsAgo } = instance
    if (resourceId === '' && createStartedMsAgo === null) return { kind: 'gone' }
    const machine =
      resourceId === '' ? (await this.machinesNamed(instance.name))[0] : await this.#byId(resourceId)
    if (machine?.state === 'gone') return { kind: 'gone' }
    if (machine !== undefined) return { kind: 'found', machine }
    const mayAppear =
      createStartedMsAgo !== null && createStartedMsAgo < this.deps.settings.listLagSeconds * 1000
    return { kind: mayAppear ? 'pending' : 'gone' }
  }

  async move(
    instance: InstanceRecord,
    to: InstanceStatus,
    facts: Parameters<CloudStore['moveInstance']>[2],
  ): Promise<boolean> {
    const { store, log, metrics } = this.deps
    const moved = await store.moveInstance(instance.no, to, facts)
    if (!moved) return false
    metrics?.moved(this.infra.provider, to)
    const { resourceId: id, message, address } = facts
    log.info('a machine moved', { machine: instance.name, from: instance.status, to, id, address, message })
    return true
  }

  async setMessage(instance: InstanceRecord, message: string): Promise<void> {
    if (instance.message !== message) await this.deps.store.setInstanceMessage(instance.no, message)
  }

  async #byId(id: string): Promise<Machine | undefined> {
    const { provider, signal } = this.deps
    return (await this.#list()).find((machine) => machine.id === id) ?? (await provider.describe(id, signal))
  }

  #list(): Promise<Machine[]> {
    const { provider, farmId, signal } = this.deps
    return (this.#listed ??= provider.list(farmId, signal))
  }
}

/** Calls `work` for each item, for at most `limit` at once. Rejects with the first error after all calls have settled. */
export async function forEachParallel<T>(
  limit: number,
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = items.values()
  const worker = async (): Promise<void> => {
    for (const item of waiting) await work(item)
  }
  const workers = Array.from({ length: Math.min(limit, items.length) }, worker)
  for (const result of await Promise.allSettled(workers))
    if (result.status === 'rejected') throw result.reason
}
