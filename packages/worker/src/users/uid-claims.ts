import { hash, randomUUID } from 'node:crypto'
import {
  closeSync,
  constants,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isSameProcess, processStart } from '@scanfarm/runners'
import { unlinkIfExists } from '../workspaces/workspace-uses.ts'
import type { UidRange } from './uids.ts'

/** A file whose name contains a uid, the workspace that uses it, the process that claims it, and a number. */
interface Claim {
  readonly name: string
  readonly uid: number
  readonly key: string
  /** The uid is being cleaned after its last run; it cannot be acquired. */
  readonly releasing: boolean
  /** Reads the state of the process in the first call. */
  isLive(): boolean
}

/** Uids that the same workspaces use. */
interface UidGroup {
  readonly folder: string
  readonly first: number
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
const RELEASING = '.releasing'
/** The folder of the files of programs, next to the claims. */
const PROGRAMS = 'programs'
/** Ends the folders of a claim, after which the rest of earlier ones may follow. */
const END = '\0\0'
/** Each claim has its folders at its number times this in the file of its program: two paths of 4,096 bytes and more. */
const RECORD_BYTES = 12_288
const LONGEST_PAUSE_MS = 20
const RETRY_MS = 100

/** A range of at least this size is divided into groups, each with a folder of its own. */
const DIVIDED = 2_048
const GROUP = 32

const keyOf = (workspaceFolder: string): string => hash('sha256', workspaceFolder).slice(0, 16)

/**
 * Uids in use on this machine by all programs that share the folder and the range: at any time a uid belongs to one
 * workspace and a workspace to one uid. A claim is valid when its file exists and no other claim conflicts with it. Two
 * programs whose claims conflict both remove them and try again.
 *
 * Each claim reads all others that it may conflict with. In a large range a workspace uses only the uids of its group, so
 * that these are few. The first try assumes that none does.
 */
export class UidClaims {
  readonly #folder: string
  readonly #range: UidRange
  readonly #skipped: ReadonlySet<number>
  readonly #boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').slice(0, 8)
  readonly #self = [process.pid, processStart(process.pid), this.#boot, randomUUID()].join('-')
  readonly #groups = new Map<number, UidGroup>()
  readonly #program: ProgramFile

  constructor(folder: string, range: UidRange, skipped: ReadonlySet<number>) {
    this.#folder = folder
    this.#range = range
    this.#skipped = skipped
    const programs = join(folder, PROGRAMS)
    mkdirSync(programs, { recursive: true, mode: 0o700 })
    // A claim that is left keeps its file.
    for (const name of readdirSync(programs))
      if (!this.#isLive(name)) rmSync(join(programs, name), { force: true })
    this.#program = new ProgramFile(programs, this.#self)
  }

  /** How many uids a workspace can choose from. */
  get size(): number {
    const { first, last } = this.#range
    return last - first < DIVIDED ? last - first + 1 : GROUP
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
    const keyNumber = Number.parseInt(key.slice(0, 12), 16)
    const group = this.#groupOf(keyNumber)
    const first = this.#choose(group, keyNumber, key, [])
    const found =
      first === undefined ? undefined : await this.#tryAcquire(group, first, key, [], folders, clean)
    if (found !== undefined) return found
    for (const until = performance.now() + waitMs; ;) {
      const claims = this.#claims(group)
      const uid = this.#choose(group, keyNumber, key, claims)
      const lease =
        uid === undefined ? undefined : await this.#tryAcquire(group, uid, key, claims, folders, clean)
      if (lease !== undefined || performance.now() > until || signal.aborted) return lease
      await delay(uid === undefined ? RETRY_MS : Math.random() * LONGEST_PAUSE_MS)
    }
  }

  #groupOf(keyNumber: number): UidGroup {
    const { first, last } = this.#range
    const number =
      last - first < DIVIDED ? 0 : Math.floor(keyNumber / GROUP) % Math.floor((last - first + 1) / GROUP)
    const known = this.#groups.get(number)
    if (known !== undefined) return known
    const folder =
      last - first < DIVIDED ? this.#folder : join(this.#folder, `${first}-${last}`, String(number))
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const group = { folder, first: first + number * GROUP }
    this.#groups.set(number, group)
    return group
  }

  #choose({ first }: UidGroup, keyNumber: number, key: string, claims: readonly Claim[]): number | undefined {
    const live = claims.filter((claim) => claim.isLive())
    const same = live.find((claim) => claim.key === key)
    if (same !== undefined) return same.releasing ? undefined : same.uid
    const used = new Set(live.map(({ uid }) => uid))
    for (let step = 0; step < this.size; step += 1) {
      const uid = first + ((keyNumber + step) % this.size)
      if (!used.has(uid) && !this.#skipped.has(uid)) return uid
    }
    return undefined
  }

  async #tryAcquire(
    group: UidGroup,
    uid: number,
    key: string,
    before: readonly Claim[],
    own: readonly string[],
    clean: Clean,
  ): Promise<UidLease | undefined> {
    const claim = `${uid}.${key}.${this.#self}`
    const number = this.#program.nextNumber()
    const path = join(group.folder, `${claim}.${number}`)
    const releasing = `${path}${RELEASING}`
    const others = (claims: readonly Claim[]): Claim[] =>
      claims.filter((other) => (other.uid === uid || other.key === key) && !other.name.startsWith(claim))
    const shared = `${uid}${SHARED}`
    const isDirty = before.some((claim) => claim.uid === uid && !claim.isLive())
    const made = isDirty ? releasing : path
    this.#program.claim(made, number, own)
    const found = others(this.#claims(group))
    // A program that crashed just now has left a claim which `before` shows as live.
    const conflicts = (claim: Claim): boolean =>
      claim.isLive()
        ? claim.releasing || claim.uid !== uid || claim.key !== key
        : claim.uid === uid && !isDirty
    if (found.some(conflicts)) {
      this.#program.removeClaim(made, number)
      return undefined
    }
    if (isDirty) {
      const stale = found.filter((claim) => claim.uid === uid && !claim.isLive())
      const folders = stale.flatMap((claim) => foldersOf(join(group.folder, claim.name)))
      if (!found.some((claim) => claim.isLive())) await clean(uid, folders, false)
      for (const claim of stale) rmSync(join(group.folder, claim.name), { force: true })
      renameSync(releasing, path)
    }
    if (found.some((claim) => claim.isLive())) writeFileSync(join(group.folder, shared), '', { mode: 0o600 })
    return {
      uid,
      release: async () => {
        renameSync(path, releasing)
        const names = readdirSync(group.folder)
        // Programs with another workspace see this claim and remove theirs.
        const isUsed = others(this.#claimsOf(names)).some((claim) => claim.key === key && claim.isLive())
        // When cleaning fails, the uid stays claimed until this process ends; its next user cleans it.
        if (!isUsed) {
          const isShared = names.includes(shared)
          await clean(uid, own, !isShared)
          if (isShared) rmSync(join(group.folder, shared), { force: true })
        }
        this.#program.removeClaim(releasing, number)
      },
    }
  }

  #claims({ folder }: UidGroup): Claim[] {
    return this.#claimsOf(readdirSync(folder))
  }

  #claimsOf(names: readonly string[]): Claim[] {
    return names.flatMap((name) => {
      if (name === PROGRAMS || name.endsWith(SHARED)) return []
      const [uid, key = '', holder = ''] = name.split('.')
      const releasing = name.endsWith(RELEASING)
      let known: boolean | undefined
      const isLive = (): boolean => (known ??= this.#isLive(holder))
      return [{ name, uid: Number(uid), key, releasing, isLive }]
    })
  }

  #isLive(holder: string): boolean {
    if (holder.startsWith(this.#self)) return true
    const [pid, start, boot] = holder.split('-')
    return boot === this.#boot && isSameProcess(Number(pid), Number(start))
  }
}

/**
 * Claims of one program are links to its file, which costs less than making a file for each. It contains their folders, so
 * that the next user of a uid finds those of a program that crashed.
 */
class ProgramFile {
  readonly #path: string
  readonly #free: number[] = []
  #file: number | undefined
  #numbers = 0

  constructor(folder: string, name: string) {
    this.#path = join(folder, name)
  }

  /** A number that no claim has; a removed claim gives it back. */
  nextNumber(): number {
    return this.#free.pop() ?? this.#numbers++
  }

  claim(path: string, number: number, folders: readonly string[]): void {
    const record = Buffer.from(`${folders.join('\0')}${END}`)
    if (record.length > RECORD_BYTES) throw new Error(`the path of the workspace is too long: ${folders[0]}`)
    try {
      this.#link(path, number, record)
    } catch {
      // The first claim, or an operator has deleted the file or the folder of the claim.
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      this.#open()
      this.#link(path, number, record)
    }
  }

  removeClaim(path: string, number: number): void {
    unlinkIfExists(path)
    this.#free.push(number)
  }

  #link(path: string, number: number, record: Buffer): void {
    if (this.#file === undefined) throw new Error('the file of the program is not open')
    writeSync(this.#file, record, 0, record.length, number * RECORD_BYTES)
    linkSync(this.#path, path)
  }

  /** An existing file keeps its content, which other claims need. */
  #open(): void {
    const before = this.#file
    // When opening fails, the number of the closed file may soon be that of another one.
    this.#file = undefined
    if (before !== undefined) closeSync(before)
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 })
    this.#file = openSync(this.#path, constants.O_RDWR | constants.O_CREAT, 0o600)
  }
}

/** Empty when another process has removed the claim meanwhile. */
const foldersOf = (claim: string): string[] => {
  const record = Buffer.alloc(RECORD_BYTES)
  try {
    const file = openSync(claim, 'r')
    const read = readSync(file, record, 0, RECORD_BYTES, numberOf(claim) * RECORD_BYTES)
    closeSync(file)
    const [folders = ''] = record.toString('utf8', 0, read).split(END)
    return folders.split('\0').filter((folder) => folder !== '')
  } catch {
    return []
  }
}

const numberOf = (claim: string): number => Number(basename(claim).split('.')[3]) || 0
