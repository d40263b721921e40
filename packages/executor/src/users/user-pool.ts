import { RunnerUnavailableError } from '@scanfarm/contracts'
import type { Owner } from '../folders.ts'
import type { Homes } from '../homes.ts'
import type { CommandUsers, UserLease } from './command-users.ts'
import { removeLeftovers } from './leftovers.ts'
import { UidClaims, type TakenUid } from './uid-claims.ts'
import { closeWorkspace, openWorkspace } from './workspace-owner.ts'
import { namedUids, type UidRange } from './uid-range.ts'

export interface UserPoolOptions {
  readonly range: UidRange
  /** Where claims of all programs on this machine are kept; closed to commands. */
  readonly folder: string
  /** Kills every process of a user. */
  endUser(user: Owner): Promise<void>
  /** Where workspaces have homes: opened and closed with them. */
  readonly homes?: Homes | undefined
  /** How long a run waits for a free uid; default a minute. */
  readonly waitMs?: number
}

interface Held {
  readonly ready: Promise<TakenUid>
  runs: number
}

const WAIT_MS = 60_000
const ownerOf = (uid: number): Owner => ({ uid, gid: uid })

/**
 * Gives the runs of each workspace a uid of their own while one of them is alive. Before another workspace gets the uid
 * its processes are killed, and the folder of a workspace at rest is closed, so that nothing reaches from one to another.
 */
export class UserPool implements CommandUsers {
  readonly #options: UserPoolOptions
  readonly #held = new Map<string, Held>()
  readonly #leaving = new Map<string, Promise<void>>()
  #claims: UidClaims | undefined

  constructor(options: UserPoolOptions) {
    this.#options = options
  }

  get sample(): Owner {
    return ownerOf(this.#options.range.first)
  }

  async acquire(workspaceFolder: string, signal: AbortSignal): Promise<UserLease> {
    for (let left; (left = this.#leaving.get(workspaceFolder)) !== undefined;) await left
    const held = this.#held.get(workspaceFolder) ?? this.#hold(workspaceFolder)
    held.runs += 1
    let isReleased = false
    const release = async (): Promise<void> => {
      if (isReleased) return
      isReleased = true
      held.runs -= 1
      if (held.runs === 0) await this.#letGo(workspaceFolder, held)
    }
    try {
      const { uid } = await unlessAborted(held.ready, signal)
      return { owner: ownerOf(uid), release }
    } catch (error) {
      await release()
      throw error
    }
  }

  #hold(workspaceFolder: string): Held {
    const held = { ready: this.#take(workspaceFolder), runs: 0 }
    held.ready.catch(() => {})
    this.#held.set(workspaceFolder, held)
    return held
  }

  async #take(workspaceFolder: string): Promise<TakenUid> {
    const { range, folder, endUser, homes, waitMs = WAIT_MS } = this.#options
    const home = homes?.own(workspaceFolder)
    const own = [workspaceFolder, ...(home === undefined ? [] : [home])]
    const claims = (this.#claims ??= new UidClaims(folder, range, namedUids()))
    const taken = await claims.take(own, waitMs, async (uid, folders) => {
      await endUser(ownerOf(uid))
      await removeLeftovers(ownerOf(uid))
      for (const one of folders) closeWorkspace(one, ownerOf(uid))
    })
    if (taken === undefined)
      throw new RunnerUnavailableError(
        `runs of other workspaces use all ${claims.size} users of runner.uids (${range.first}-${range.last}): raise it, or lower the slots`,
      )
    try {
      await openWorkspace(workspaceFolder, ownerOf(taken.uid))
      await homes?.open(workspaceFolder, ownerOf(taken.uid))
      return taken
    } catch (error) {
      await taken.release()
      throw error
    }
  }

  async #letGo(workspaceFolder: string, held: Held): Promise<void> {
    this.#held.delete(workspaceFolder)
    const leave = async (): Promise<void> => {
      const taken = await held.ready.catch(() => undefined)
      await taken?.release()
    }
    const leaving = leave().finally(() => this.#leaving.delete(workspaceFolder))
    // The next run of the workspace waits for it, whether it succeeds or not.
    this.#leaving.set(
      workspaceFolder,
      leaving.catch(() => {}),
    )
    await leaving
  }
}

/** The rest waits on when one of several runs is stopped. */
const unlessAborted = async <T>(promise: Promise<T>, signal: AbortSignal): Promise<T> => {
  const aborted = Promise.withResolvers<never>()
  const onAbort = (): void => aborted.reject(new RunnerUnavailableError('the run was stopped'))
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([promise, aborted.promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
