import type { InstanceStatus } from '@scanfarm/contracts'
import type { Logger } from '@scanfarm/platform'
import type { CloudStore, InfraRecord, InstanceRecord } from '@scanfarm/store'
import type { CloudProvider, Machine } from '../provider.ts'
import type { LifeSettings } from './settings.ts'

/** Called for what happens to machines. */
export interface LifeMetrics {
  moved(provider: string, to: InstanceStatus): void
  /** A machine that the farm did not want (any more) was destroyed. */
  leftoverDestroyed(provider: string): void
}

export interface LookDeps {
  readonly store: CloudStore
  readonly provider: CloudProvider
  readonly farmId: string
  /** Who holds the infrastructure. */
  readonly owner: string
  readonly settings: LifeSettings
  readonly log: Logger
  /** Aborts when the infrastructure is lost to another owner, or this process ends. */
  readonly signal: AbortSignal
  readonly metrics?: LifeMetrics
}

/** What can be said about a machine. `unsure`: it was asked for so recently that it may show up yet. */
export type Sighting =
  | { readonly kind: 'there'; readonly machine: Machine }
  | { readonly kind: 'gone' }
  | { readonly kind: 'unsure' }

/** The look is over: the infrastructure belongs to somebody else. */
export class LostInfraError extends Error {
  override readonly name = 'LostInfraError'
}

/** One look at one infrastructure: what the provider has of it, asked at most once, and when to look again. */
export class Look {
  readonly deps: LookDeps
  /** When the provider, or something that takes time, wants the next look. */
  afterMs = 0
  #infra: InfraRecord
  #listed: Promise<Machine[]> | undefined

  constructor(infra: InfraRecord, deps: LookDeps) {
    this.#infra = infra
    this.deps = deps
  }

  /** As it was when it was taken or refreshed. */
  get infra(): InfraRecord {
    return this.#infra
  }

  /** Reads the rows anew; rejects with a `LostInfraError` when another owner has the infrastructure. */
  async refresh(): Promise<void> {
    const { store, owner, settings } = this.deps
    const now = await store.again(this.#infra.no, owner, settings.holdMs)
    if (now === undefined) throw new LostInfraError('another server looks after the infrastructure now')
    this.#infra = now
  }

  with(...statuses: readonly InstanceStatus[]): InstanceRecord[] {
    return this.infra.instances.filter(({ status }) => statuses.includes(status))
  }

  /** Not before. */
  defer(ms: number | undefined): void {
    this.afterMs = Math.max(this.afterMs, ms ?? 0)
  }

  /** What the provider lists under the name, first what stays. */
  async named(name: string): Promise<Machine[]> {
    const there = (await this.#list()).filter((machine) => machine.name === name && machine.state !== 'gone')
    return there.sort((one, other) => Number(one.state === 'stopping') - Number(other.state === 'stopping'))
  }

  async find(instance: InstanceRecord): Promise<Sighting> {
    if (instance.resourceId === '' && instance.askedMsAgo === null) return { kind: 'gone' }
    const machine =
      instance.resourceId === ''
        ? (await this.named(instance.name))[0]
        : await this.#byId(instance.resourceId)
    if (machine?.state === 'gone') return { kind: 'gone' }
    if (machine !== undefined) return { kind: 'there', machine }
    return { kind: this.maySoonShow(instance) ? 'unsure' : 'gone' }
  }

  /** Time that is left for a machine to show up in the provider's lists. */
  maySoonShow({ askedMsAgo }: InstanceRecord): boolean {
    return askedMsAgo !== null && askedMsAgo < this.deps.settings.showSeconds * 1000
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

  async note(instance: InstanceRecord, message: string): Promise<void> {
    if (instance.message !== message) await this.deps.store.noteInstance(instance.no, message)
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
