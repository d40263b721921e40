import type { CloudInfra, CloudProviderName, InfraStatus, InstanceStatus } from '@scanfarm/contracts'
import type { PageOf, PageRequest } from '../store.ts'

/** What somebody asks for. Everything is resolved: defaults of provider and settings are filled in. */
export interface InfraDraft {
  readonly provider: CloudProviderName
  readonly region: string
  readonly instanceType: string
  readonly useSpot: boolean
  readonly instances: number
  /** Destroy it when the last run of any job bound to it has ended. */
  readonly autoDestroy: boolean
  /** Hours after which it is destroyed whatever happens. */
  readonly hours: number
  /** US dollars an hour for one machine; null: not known. */
  readonly hourlyPrice: number | null
  /** Programs that must be there before a machine counts as ready, and what may be installed for them. */
  readonly tools: readonly string[]
}

/** Bounds over all infrastructures that are not destroyed, and for each one; null: none. Costs in US dollars. */
export interface CloudBudget {
  readonly instances: number
  readonly totalInstances: number
  readonly hours: number
  readonly totalInstanceHours: number | null
  readonly cost: number | null
  readonly totalCost: number | null
}

/** A machine as the loops see it, with its secrets. */
export interface InstanceRecord {
  readonly no: number
  /** Unique in the farm, fit for a host name. The create call carries it: after a crash it tells what was made. */
  readonly name: string
  readonly status: InstanceStatus
  readonly resourceId: string
  readonly address: string
  readonly port: number
  readonly message: string
  /** OpenSSH private key that the machine shall use as its host key; "" once it is ready. */
  readonly hostKeyPrivate: string
  /** OpenSSH public key, `ssh-ed25519 AAAA…`. */
  readonly hostKey: string
  readonly createdAt: string
  /** Time since the provider was last asked to make it (`asking`), by the clock of the database; null: never. */
  readonly askedMsAgo: number | null
}

export interface InfraRecord {
  readonly no: number
  readonly infraId: string
  readonly status: InfraStatus
  readonly provider: CloudProviderName
  readonly region: string
  readonly instanceType: string
  readonly useSpot: boolean
  readonly autoDestroy: boolean
  readonly tools: readonly string[]
  readonly expiresAt: string
  readonly expired: boolean
  /** Some job is bound to it, and no run of any such job can run any more. */
  readonly workDone: boolean
  readonly message: string
  /** User that runs work as on its machines. */
  readonly sshUser: string
  /** OpenSSH private key that opens its machines; "" until `setKey`. */
  readonly privateKey: string
  readonly publicKey: string
  readonly instances: readonly InstanceRecord[]
}

/** Where a running cloud run executes. */
export interface RunPlace {
  readonly infraNo: number
  readonly instanceNo: number
  readonly infraId: string
  readonly provider: CloudProviderName
  readonly resourceId: string
  readonly address: string
  readonly port: number
  readonly sshUser: string
  readonly privateKey: string
  readonly hostKey: string
}

/**
 * Infrastructures and their machines. One server at a time looks after an infrastructure (`take` … `release`), others
 * pass it over; a server that dies while it does so is followed by another when its time is up. Every change of a
 * status is guarded by the tables of moves in contracts: a change that is not allowed (any more) is not made.
 */
export interface CloudStore {
  /**
   * A new infrastructure and its instance rows, in status `requested`, if the budget allows; serialised over the farm.
   * Refuses with the code `cloud_limit` and the figures in the message. (`jobs.submit` does the same within the
   * transaction that makes the job.)
   */
  request(draft: InfraDraft, budget: CloudBudget): Promise<CloudInfra>
  list(
    filter: { status?: InfraStatus; provider?: CloudProviderName },
    page: PageRequest,
  ): Promise<PageOf<CloudInfra>>
  find(infraId: string): Promise<CloudInfra | undefined>
  /**
   * → `draining`: waiting runs bound to it are cancelled with the reason, running ones are asked to end. An ended one
   * stays as it is. Undefined: unknown. `cancelled` lists runs that were running, so that the caller can signal them.
   */
  drain(infraId: string, reason: string): Promise<{ infra: CloudInfra; cancelled: number[] } | undefined>

  /**
   * An infrastructure that needs a look now: not ended, or ended with machines that are not; nobody's at the moment.
   * It is this owner's for `holdMs`. Undefined when there is none.
   */
  take(owner: string, holdMs: number): Promise<InfraRecord | undefined>
  /** The same one as it is now; undefined when it is no longer this owner's. Renews the hold. */
  again(infraNo: number, owner: string, holdMs: number): Promise<InfraRecord | undefined>
  /** The next look is due in `afterMs`, or at once when something changes (`drain`, a job's end, a lost machine). */
  release(infraNo: number, owner: string, afterMs: number): Promise<void>
  /** The first key stays: one that is there is not replaced. Read it back with `again`. */
  setKey(infraNo: number, key: { sshUser: string; privateKey: string; publicKey: string }): Promise<void>
  setHostKey(instanceNo: number, key: { privateKey: string; publicKey: string }): Promise<void>
  /**
   * Notes that the provider is being asked to make this machine, now; called before every such call. False, and
   * nothing is noted: the infrastructure is not this owner's any more or not `provisioning`, or the machine is not
   * `requested`. Then do not ask.
   */
  asking(instanceNo: number, owner: string): Promise<boolean>
  /** Says why a machine is still where it is; its status stays. */
  noteInstance(instanceNo: number, message: string): Promise<void>
  /**
   * Whether it moved. `failed` and `draining` end what is bound to it: its runs fail with the message, running ones too.
   * `destroyed` only when no machine is left. `onlyWhenDone`: only if it is still `workDone` in that very moment; for
   * `autoDestroy`, which must not take a job along that was bound to it meanwhile.
   */
  moveInfra(
    infraNo: number,
    to: InfraStatus,
    message: string,
    options?: { readonly onlyWhenDone?: boolean },
  ): Promise<boolean>
  /** Whether it moved. Moving away from `ready` takes its runs along, as in `instanceLost`. */
  moveInstance(
    instanceNo: number,
    to: InstanceStatus,
    facts: { message?: string; resourceId?: string; address?: string; port?: number },
  ): Promise<boolean>
  /** The machine is gone though nobody destroyed it: → `destroying`, its running runs → `queued`, to be bound anew. */
  instanceLost(instanceNo: number, message: string): Promise<{ moved: number }>
  /** Binds runs that wait for a machine of a ready infrastructure, round-robin over its ready machines; how many. */
  bindRuns(infraNo: number, limit: number): Promise<number>
  /** Of names of machines that a provider has, with the infrastructure they claim: those that the farm still wants. */
  wanted(names: readonly string[]): Promise<string[]>
  /** How many machines there are that are not known to be gone. */
  countMachines(): Promise<{ provider: CloudProviderName; status: InstanceStatus; count: number }[]>
  /** Providers of infrastructures that are not ended, for the reaper. */
  providersInUse(): Promise<CloudProviderName[]>
  /** True for one caller in the farm within `everyMs`: it shall look for what is left over at this provider. */
  reaping(provider: CloudProviderName, everyMs: number): Promise<boolean>
  /** Where a run that is being executed belongs; undefined when it is not running (in that attempt) on a machine. */
  placeOf(runUuid: string, attempt: number): Promise<RunPlace | undefined>
}
