import { createHash, randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isSameProcess, processStart } from '@scanfarm/runners'
import type { UidRange } from './uids.ts'

/** A file whose name contains a uid, the workspace that uses it, and the process that claims it. */
interface Claim {
  readonly name: string
  readonly uid: number
  readonly key: string
  /** The uid is being cleaned after its last run; it cannot be acquired. */
  readonly releasing: boolean
  readonly isLive: boolean
}

export interface UidLease {
  readonly uid: number
  /** Cleans the uid first, unless another process uses it. */
  release(): Promise<void>
}

/** Kills the processes of a uid and closes the folders that it used. */
type Clean = (uid: number, folders: readonly string[]) => Promise<void>

const LONGEST_PAUSE_MS = 20
const RETRY_MS = 100

const keyOf = (workspaceFolder: string): string =>
  createHash('sha256').update(workspaceFolder).digest('hex').slice(0, 16)

/**
 * Uids in use on this machine by all programs that share the folder: at any time a uid belongs to one workspace and a
 * workspace to one uid. A claim is valid when its file exists and no other claim conflicts with it. Two programs whose
 * claims conflict both remove them and try again.
 */
export class UidClaims {
  readonly #folder: string
  readonly #range: UidRange
  readonly #skipped: ReadonlySet<number>
  readonly #boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').slice(0, 8)
  readonly #self = [process.pid, processStart(process.pid), this.#boot, randomUUID()].join('-')

  constructor(folder: string, range: UidRange, skipped: ReadonlySet<number>) {
    this.#folder = folder
    this.#range = range
    this.#skipped = skipped
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  }

  get size(): number {
    return this.#range.last - this.#range.first + 1
  }

  /**
   * `folders`: the folder of the workspace, then others of its user. Waits while all uids are in use; resolves to
   * undefined when none became free in time. Calls `clean` first when a process that crashed used the uid.
   */
  async acquire(folders: readonly string[], waitMs: number, clean: Clean): Promise<UidLease | undefined> {
    const key = keyOf(folders[0] ?? '')
    for (const until = performance.now() + waitMs; ;) {
      const uid = this.#choose(key)
      const lease = uid === undefined ? undefined : await this.#tryAcquire(uid, folders, clean)
      if (lease !== undefined || performance.now() > until) return lease
      await delay(uid === undefined ? RETRY_MS : Math.random() * LONGEST_PAUSE_MS)
    }
  }

  #choose(key: string): number | undefined {
    const live = this.#claims().filter(({ isLive }) => isLive)
    const same = live.find((claim) => claim.key === key)
    if (same !== undefined) return same.releasing ? undefined : same.uid
    const used = new Set(live.map(({ uid }) => uid))
    const begin = Number.parseInt(key.slice(0, 12), 16) % this.size
    for (let step = 0; step < this.size; step += 1) {
      const uid = this.#range.first + ((begin + step) % this.size)
      if (!used.has(uid) && !this.#skipped.has(uid)) return uid
    }
    return undefined
  }

  async #tryAcquire(uid: number, own: readonly string[], clean: Clean): Promise<UidLease | undefined> {
    const key = keyOf(own[0] ?? '')
    const path = join(this.#folder, `${uid}.${key}.${this.#self}`)
    const releasing = `${path}.releasing`
    const isDirty = this.#others(uid, key).some((claim) => !claim.isLive && claim.uid === uid)
    const made = isDirty ? releasing : path
    writeFileSync(made, own.join('\0'), { mode: 0o600 })
    const others = this.#others(uid, key)
    const conflicts = (claim: Claim): boolean => claim.releasing || claim.uid !== uid || claim.key !== key
    if (others.some((claim) => claim.isLive && conflicts(claim))) {
      rmSync(made, { force: true })
      return undefined
    }
    if (isDirty) {
      const stale = others.filter((claim) => !claim.isLive && claim.uid === uid)
      const folders = stale.flatMap(({ name }) => this.#folderOf(name))
      if (!others.some(({ isLive }) => isLive)) await clean(uid, folders)
      for (const { name } of stale) rmSync(join(this.#folder, name), { force: true })
      renameSync(releasing, path)
    }
    return {
      uid,
      release: async () => {
        renameSync(path, releasing)
        // When cleaning fails, the uid stays claimed until this process ends; its next user cleans it.
        if (!this.#others(uid, key).some(({ isLive }) => isLive)) await clean(uid, own)
        rmSync(releasing, { force: true })
      },
    }
  }

  /** Empty when another process has removed the claim meanwhile. */
  #folderOf(name: string): string[] {
    try {
      return readFileSync(join(this.#folder, name), 'utf8').split('\0')
    } catch {
      return []
    }
  }

  /** Claims of other processes on the uid or for the workspace. */
  #others(uid: number, key: string): Claim[] {
    return this.#claims().filter(
      (claim) =>
        (claim.uid === uid || claim.key === key) && !claim.name.startsWith(`${uid}.${key}.${this.#self}`),
    )
  }

  #claims(): Claim[] {
    return readdirSync(this.#folder).map((name) => {
      const [uid, key = '', holder = '', state] = name.split('.')
      const [pid, start, boot] = holder.split('-')
      const isLive =
        holder === this.#self || (boot === this.#boot && isSameProcess(Number(pid), Number(start)))
      return { name, uid: Number(uid), key, releasing: state !== undefined, isLive }
    })
  }
}
