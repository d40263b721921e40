import { valueOr } from '@scanfarm/contracts'
import { hash } from 'node:crypto'
import { existsSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isRunning, nameProcess, namesIn, unlinkIfExists, writeMark } from '../workspaces/process-name.ts'
import type { UidRange } from './uids.ts'

/** A file whose name has a uid, the workspace that uses it and the process that claims it. It contains their folders. */
interface Claim {
  readonly name: string
  readonly uid: number
  readonly key: string
  readonly isOwn: boolean
  /** The uid is being cleaned; no other program can join it. */
  readonly cleaning: boolean
  readonly isLive: boolean
}

export interface UidLease {
  readonly uid: number
  /** Cleans the uid first, unless another process uses it. */
  release(): Promise<void>
}

/** Kills the processes of a uid, all of which were started by this process or not, and closes the folders that it used. */
type Clean = (uid: number, folders: readonly string[], areOurs: boolean) => Promise<void>

/** Ends the name of a file that says that several programs have used a uid for the same workspace. */
const SHARED = '.shared'
const CLEANING = '.cleaning'
const CLAIM = /^(\d+)\.([0-9a-f]{16})\.([\w-]+)(\.cleaning)?$/
const LONGEST_PAUSE_MS = 20
const RETRY_MS = 100

const keyOf = (workspaceFolder: string): string => hash('sha256', workspaceFolder).slice(0, 16)

/**
 * Uids in use on this machine by all programs that share the folder and the range: at any time a uid belongs to one
 * workspace and a workspace to one uid. A claim is valid when its file exists and no other claim conflicts with it. Two
 * programs whose claims conflict both remove them and try again.
 */
export class UidClaims {
  readonly #folder: string
  readonly #range: UidRange
  readonly #skipped: ReadonlySet<number>
  readonly #self = nameProcess()

  constructor(folder: string, range: UidRange, skipped: ReadonlySet<number>) {
    this.#folder = folder
    this.#range = range
    this.#skipped = skipped
  }

  /**
   * `folders`: the folder of the workspace, then others of its user. Waits while all uids are in use; resolves to
   * undefined when none became free in time or before `signal`. Calls `clean` first when a process that crashed used the
   * uid.
   */
  async acquire(
    folders: readonly string[],
    { waitMs, signal }: { waitMs: number; signal: AbortSignal },
    clean: Clean,
  ): Promise<UidLease | undefined> {
    const key = keyOf(folders[0] ?? '')
    const until = performance.now() + waitMs
    // The first try assumes that there are no claims which conflict.
    for (let claims: readonly Claim[] | undefined; ; claims = this.#claims()) {
      const uid = this.#choose(key, claims ?? [])
      const lease =
        uid === undefined ? undefined : await this.#tryAcquire(uid, key, claims ?? [], folders, clean)
      if (lease !== undefined) return lease
      if (claims === undefined) continue
      if (performance.now() > until || signal.aborted) return undefined
      await delay(uid === undefined ? RETRY_MS : Math.random() * LONGEST_PAUSE_MS)
    }
  }

  #choose(key: string, claims: readonly Claim[]): number | undefined {
    const live = claims.filter(({ isLive }) => isLive)
    const same = live.find((claim) => claim.key === key)
    if (same !== undefined) return same.cleaning && !same.isOwn ? undefined : same.uid
    const used = new Set(live.map(({ uid }) => uid))
    const { first, last } = this.#range
    const size = last - first + 1
    const wanted = Number.parseInt(key.slice(0, 12), 16)
    for (let step = 0; step < size; step += 1) {
      const uid = first + ((wanted + step) % size)
      if (!used.has(uid) && !this.#skipped.has(uid)) return uid
    }
    return undefined
  }

  async #tryAcquire(
    uid: number,
    key: string,
    before: readonly Claim[],
    folders: readonly string[],
    clean: Clean,
  ): Promise<UidLease | undefined> {
    const own = `${uid}.${key}.${this.#self}`
    const path = join(this.#folder, own)
    const cleaning = `${path}${CLEANING}`
    const shared = join(this.#folder, `${uid}${SHARED}`)
    const others = (): Claim[] =>
      this.#claims(
        (name) => (name.startsWith(`${uid}.`) || name.includes(`.${key}.`)) && !name.startsWith(own),
      )
    // This process could not clean it.
    const isLeft = existsSync(cleaning)
    const isDirty = isLeft || before.some((claim) => claim.uid === uid && !claim.isLive)
    const made = isDirty ? cleaning : path
    writeMark(made, folders.join('\0'))
    const found = others()
    // A program that crashed just now has left a claim which `before` shows as live.
    const conflicts = (claim: Claim): boolean =>
      claim.isLive ? claim.cleaning || claim.uid !== uid || claim.key !== key : claim.uid === uid && !isDirty
    if (found.some(conflicts)) {
      if (!isLeft) unlinkIfExists(made)
      return undefined
    }
    const isUsed = found.some(({ isLive }) => isLive)
    if (isDirty) {
      const stale = found.filter((claim) => claim.uid === uid && !claim.isLive)
      const left = stale.map(({ name }) => join(this.#folder, name))
      if (!isUsed) await clean(uid, left.flatMap(foldersOf), false)
      left.forEach(unlinkIfExists)
      renameSync(cleaning, path)
    }
    if (isUsed) writeMark(shared)
    return {
      uid,
      release: async () => {
        // Programs with another workspace see this claim and remove theirs.
        renameSync(path, cleaning)
        // When cleaning fails, the uid stays claimed until this process ends; its next user cleans it.
        if (!others().some((claim) => claim.key === key && claim.isLive)) {
          const isShared = existsSync(shared)
          await clean(uid, folders, !isShared)
          if (isShared) unlinkIfExists(shared)
        }
        unlinkIfExists(cleaning)
      },
    }
  }

  #claims(isWanted: (name: string) => boolean = () => true): Claim[] {
    const running = new Map([[this.#self, true]])
    return namesIn(this.#folder)
      .filter(isWanted)
      .flatMap((name) => {
        const [, uid, key = '', holder = '', cleaning] = CLAIM.exec(name) ?? []
        if (uid === undefined) return []
        const isLive = running.get(holder) ?? isRunning(holder)
        running.set(holder, isLive)
        return [
          {
            name,
            uid: Number(uid),
            key,
            isOwn: holder === this.#self,
            isLive,
            cleaning: cleaning === CLEANING,
          },
        ]
      })
  }
}

/** Empty when another process has removed the claim meanwhile. */
const foldersOf = (claim: string): string[] =>
  valueOr(() => readFileSync(claim, 'utf8').split('\0').filter(Boolean), [])
