import { addAbortListener } from 'node:events'
import { RunnerUnavailableError, type Owner } from '@scanfarm/contracts'
import { type UidRange, namedUids } from './uids.ts'
import type { Homes } from '../workspaces/homes.ts'
import type { CommandUsers, UserLease } from './command-users.ts'
import { removeLeftovers } from './leftovers.ts'
import { UidClaims, type UidLease } from './uid-claims.ts'
import { closeWorkspace, openWorkspace } from './workspace-owner.ts'

export interface UserPoolOptions {
  readonly range: UidRange
  /** Contains the uid claims of all programs on this machine; closed to commands. */
  readonly folder: string
  /** Kills every process of a user. `areOurs`: this process has started all of them. */
  endUser(user: Owner, areOurs: boolean): Promise<void>
  /** Homes of workspaces, opened and closed with them. */
  readonly homes?: Homes | undefined
  /** How long a run waits for a free uid; default: a minute. */
  readonly waitMs?: number
}

interface SharedLease {
  readonly ready: Promise<UidLease>
  /** Ends the wait for a uid. */
  readonly wait: AbortController
  runs: number
}

const WAIT_MS = 60_000
const ownerOf = (uid: number): Owner => ({ uid, gid: uid })

/**
 * The runs of a workspace share a uid that no other workspace has at that time. Before another workspace gets the uid,
 * its processes are killed and the folder of the workspace is closed, so that workspaces cannot reach each other.
 */
export class UserPool implements CommandUsers {
  readonly #options: UserPoolOptions
  readonly #leases = new Map<string, SharedLease>()
  readonly #releasing = new Map<string, Promise<void>>()
  #claims: UidClaims | undefined

  constructor(options: UserPoolOptions) {
    this.#options = options
  }

  get sample(): Owner {
    return ownerOf(this.#options.range.first)
  }

  async acquire(workspaceFolder: string, signal: AbortSignal): Promise<UserLease> {
    for (let pending; (pending = this.#releasing.get(workspaceFolder)) !== undefined;) await pending
    const shared = this.#leases.get(workspaceFolder) ?? this.#share(workspaceFolder)
    shared.runs += 1
    let isReleased = false
    const release = async (): Promise<void> => {
      if (isReleased) return
      isReleased = true
      shared.runs -= 1
      if (shared.runs === 0) await this.#releaseLast(workspaceFolder, shared)
    }
    try {
      const { uid } = await unlessAborted(shared.ready, signal)
      return { owner: ownerOf(uid), release }
    } catch (error) {
      await release()
      throw error
    }
  }

  #share(workspaceFolder: string): SharedLease {
    const wait = new AbortController()
    const shared = { ready: this.#acquire(workspaceFolder, wait.signal), wait, runs: 0 }
    shared.ready.catch(() => {})
    this.#leases.set(workspaceFolder, shared)
    return shared
  }

  async #acquire(workspaceFolder: string, signal: AbortSignal): Promise<UidLease> {
    const { range, folder, endUser, homes, waitMs = WAIT_MS } = this.#options
    const home = homes?.own(workspaceFolder)
    const own = [workspaceFolder, ...(home === undefined ? [] : [home])]
    const claims = (this.#claims ??= new UidClaims(folder, range, namedUids()))
    const lease = await claims.acquire(own, { waitMs, signal }, async (uid, folders, areOurs) => {
      await endUser(ownerOf(uid), areOurs)
      await removeLeftovers(ownerOf(uid))
      for (const one of folders) closeWorkspace(one, ownerOf(uid))
    })
    if (lease === undefined)
      throw new RunnerUnavailableError(
        `runs of other workspaces use all ${range.last - range.first + 1} users of runner.user (${range.first}-${range.last}): extend the range, or reduce the slots`,
      )
    try {
      await openWorkspace(workspaceFolder, ownerOf(lease.uid))
      await homes?.open(workspaceFolder, ownerOf(lease.uid))
      return lease
    } catch (error) {
      await lease.release()
      throw error
    }
  }

  async #releaseLast(workspaceFolder: string, shared: SharedLease): Promise<void> {
    this.#leases.delete(workspaceFolder)
    // Without a reason, an error with its stack would be made for each run.
    shared.wait.abort('released')
    const release = async (): Promise<void> => {
      const lease = await shared.ready.catch(() => undefined)
      await lease?.release()
    }
    const releasing = release().finally(() => this.#releasing.delete(workspaceFolder))
    // The next run of the workspace waits for the release, even if it fails.
    this.#releasing.set(
      workspaceFolder,
      releasing.catch(() => {}),
    )
    await releasing
  }
}

/** A stopped run does not end the wait of other runs of its workspace. */
const unlessAborted = async <T>(promise: Promise<T>, signal: AbortSignal): Promise<T> => {
  const aborted = Promise.withResolvers<never>()
  using _listener = addAbortListener(signal, () =>
    aborted.reject(new RunnerUnavailableError('the run was stopped')),
  )
  return await Promise.race([promise, aborted.promise])
}
