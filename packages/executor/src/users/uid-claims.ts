import { createHash, randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isSameProcess, processStart } from '@scanfarm/runners'
import type { UidRange } from './uid-range.ts'

/** A file whose name says which uid is taken for which workspace by which process. */
interface Claim {
  readonly name: string
  readonly uid: number
  readonly key: string
  /** The uid is being cleaned after its last run; nobody may take it. */
  readonly leaving: boolean
  readonly isLive: boolean
}

export interface TakenUid {
  readonly uid: number
  /** A process that crashed had it: something of it may be left. */
  readonly isDirty: boolean
  /** Gives it back; `clean` runs first when no other process works with it. */
  release(clean: () => Promise<void>): Promise<void>
}

const LONGEST_PAUSE_MS = 20
const RETRY_MS = 100

export const keyOf = (workspaceFolder: string): string =>
  createHash('sha256').update(workspaceFolder).digest('hex').slice(0, 16)

/**
 * Uids in use on this machine, over all programs that share the folder: at any time a uid belongs to one workspace and
 * a workspace to one uid. A claim counts once its file is there and no other claim contradicts it; of two that do, both
 * give way and try again.
 */
export class UidClaims {
  readonly #folder: string
  readonly #range: UidRange
  readonly #skipped: ReadonlySet<number>
  readonly #self = `${process.pid}-${processStart(process.pid)}-${randomUUID()}`

  constructor(folder: string, range: UidRange, skipped: ReadonlySet<number>) {
    this.#folder = folder
    this.#range = range
    this.#skipped = skipped
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  }

  get size(): number {
    return this.#range.last - this.#range.first + 1
  }

  /** Waits while all uids are taken; undefined when none was free in time. */
  async take(key: string, waitMs: number): Promise<TakenUid | undefined> {
    for (const until = performance.now() + waitMs; ;) {
      const uid = this.#choose(key)
      const taken = uid === undefined ? undefined : this.#tryTake(uid, key)
      if (taken !== undefined || performance.now() > until) return taken
      await delay(uid === undefined ? RETRY_MS : Math.random() * LONGEST_PAUSE_MS)
    }
  }

  #choose(key: string): number | undefined {
    const live = this.#claims().filter(({ isLive }) => isLive)
    const same = live.find((claim) => claim.key === key)
    if (same !== undefined) return same.leaving ? undefined : same.uid
    const taken = new Set(live.map(({ uid }) => uid))
    const begin = Number.parseInt(key.slice(0, 12), 16) % this.size
    for (let step = 0; step < this.size; step += 1) {
      const uid = this.#range.first + ((begin + step) % this.size)
      if (!taken.has(uid) && !this.#skipped.has(uid)) return uid
    }
    return undefined
  }

  #tryTake(uid: number, key: string): TakenUid | undefined {
    const path = join(this.#folder, `${uid}.${key}.${this.#self}`)
    writeFileSync(path, '', { mode: 0o600 })
    const others = this.#others(uid, key)
    const contradicts = (claim: Claim): boolean => claim.leaving || claim.uid !== uid || claim.key !== key
    if (others.some((claim) => claim.isLive && contradicts(claim))) {
      rmSync(path, { force: true })
      return undefined
    }
    const stale = others.filter((claim) => !claim.isLive && claim.uid === uid)
    return {
      uid,
      isDirty: stale.length > 0,
      release: async (clean) => {
        const leaving = `${path}.leaving`
        renameSync(path, leaving)
        // When cleaning fails the uid stays taken as long as this process lives, and is cleaned by the next one.
        if (!this.#others(uid, key).some(({ isLive }) => isLive)) await clean()
        for (const name of [...stale.map((claim) => claim.name), basename(leaving)])
          rmSync(join(this.#folder, name), { force: true })
      },
    }
  }

  /** Claims of others on the uid or for the workspace. */
  #others(uid: number, key: string): Claim[] {
    return this.#claims().filter(
      (claim) =>
        (claim.uid === uid || claim.key === key) && !claim.name.startsWith(`${uid}.${key}.${this.#self}`),
    )
  }

  #claims(): Claim[] {
    return readdirSync(this.#folder).map((name) => {
      const [uid, key = '', holder = '', state] = name.split('.')
      const [pid, start] = holder.split('-').map(Number)
      const isLive = holder === this.#self || isSameProcess(pid ?? 0, start ?? 0)
      return { name, uid: Number(uid), key, leaving: state !== undefined, isLive }
    })
  }
}
