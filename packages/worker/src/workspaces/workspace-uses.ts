import { hash, randomUUID } from 'node:crypto'
import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isSameProcess, processStart } from '@scanfarm/runners'

const KINDS = ['run', 'removal'] as const
type Kind = (typeof KINDS)[number]

/**
 * How long a mark of another machine or container is valid, whose processes cannot be seen. A removal only renames a
 * folder, so its mark expires soon.
 */
const UNKNOWN_MS: Readonly<Record<Kind, number>> = { run: 24 * 3_600_000, removal: 5_000 }
/** The marks of a process share a time, which is renewed at most this often for runs. */
const RENEW_MS = 60_000
const PAUSE_MS = 5

const keyOf = (workspace: string): string => hash('sha256', workspace).slice(0, 32)

/**
 * Which workspaces of a work folder have runs, in all programs that share the folder. Both a run and a removal first
 * create a mark and then check for marks of the other kind: a removal gives up, a run waits for the removal. In any
 * order, at least one of the two sees the mark of the other.
 */
export class WorkspaceUses {
  /** A folder for each kind: a run reads only the marks of removals, which are few. */
  readonly #folders: Readonly<Record<Kind | 'own', string>>
  /** Of the processes that this one can see. */
  readonly #place = hash(
    'sha256',
    readFileSync('/proc/sys/kernel/random/boot_id', 'latin1') + readlinkSync('/proc/self/ns/pid'),
  ).slice(0, 12)
  readonly #self = [process.pid, processStart(process.pid), this.#place, randomUUID()].join('-')
  #count = 0
  #renewedAt = 0

  /** `base`: the work folder. */
  constructor(base: string) {
    this.#folders = {
      run: join(base, 'workspace-uses'),
      removal: join(base, 'workspace-removals'),
      own: join(base, 'workspace-users'),
    }
  }

  /** Call it before a run accesses the folder of its workspace. Call the returned function to end the use. */
  async begin(workspaceFolder: string, runUuid: string, signal: AbortSignal): Promise<() => void> {
    const workspace = basename(workspaceFolder)
    const end = this.#mark(workspace, 'run', runUuid)
    while (this.#has(workspace, 'removal')) {
      if (signal.aborted) break
      await delay(PAUSE_MS)
    }
    return end
  }

  /** Whether other runs use the workspace. A mark of the run may be that of a lost attempt. */
  isShared(workspaceFolder: string, runUuid: string): boolean {
    const key = `${keyOf(basename(workspaceFolder))}.`
    return this.#names('run').some(
      (name) => name.startsWith(key) && !name.includes(`.${runUuid}.`) && this.#isLive(name, 'run'),
    )
  }

  /** Returns the result of `remove`, or false without calling it when a run uses the workspace. */
  tryRemoval(workspace: string, remove: () => boolean): boolean {
    const end = this.#mark(workspace, 'removal')
    try {
      if (this.#has(workspace, 'run')) return false
      return remove()
    } finally {
      end()
    }
  }

  /** Removes marks of dead processes and renews those of live ones, for programs in other containers. */
  sweep(): void {
    for (const kind of KINDS)
      for (const name of this.#names(kind)) {
        const path = join(this.#folders[kind], name)
        if (this.#isProcess(holderOf(name))) renewIfExists(path)
        else if (!this.#isLive(name, kind)) rmSync(path, { force: true })
      }
    // A mark that is left keeps the file.
    for (const holder of namesIn(this.#folders.own))
      if (!this.#isProcess(holder)) rmSync(join(this.#folders.own, holder), { force: true })
  }

  /** A mark is a link to the file of this process: a file of its own would cost several times as much. */
  #mark(workspace: string, kind: Kind, runUuid = ''): () => void {
    this.#count += 1
    const path = join(
      this.#folders[kind],
      [keyOf(workspace), this.#self, this.#count, runUuid, kind].join('.'),
    )
    const own = join(this.#folders.own, this.#self)
    try {
      this.#renew(own, kind)
      linkSync(own, path)
    } catch {
      // The first mark, or the folders were deleted by an operator.
      for (const folder of Object.values(this.#folders)) mkdirSync(folder, { recursive: true, mode: 0o700 })
      writeFileSync(own, '', { mode: 0o600 })
      linkSync(own, path)
    }
    return () => unlinkIfExists(path)
  }

  /** A removal must look new; marks of runs are valid for long. */
  #renew(own: string, kind: Kind): void {
    const now = Date.now()
    if (kind === 'run' && now - this.#renewedAt < RENEW_MS) return
    renew(own)
    this.#renewedAt = now
  }

  #has(workspace: string, kind: Kind): boolean {
    const names = this.#names(kind)
    if (names.length === 0) return false
    const key = `${keyOf(workspace)}.`
    return names.some((name) => name.startsWith(key) && this.#isLive(name, kind))
  }

  #names(kind: Kind): string[] {
    return namesIn(this.#folders[kind])
  }

  #isProcess(holder: string): boolean {
    const [pid, start] = holder.split('-')
    return holder === this.#self || (this.#isHere(holder) && isSameProcess(Number(pid), Number(start)))
  }

  #isHere(holder: string): boolean {
    return holder.split('-')[2] === this.#place
  }

  #isLive(name: string, kind: Kind): boolean {
    const holder = holderOf(name)
    if (this.#isHere(holder)) return this.#isProcess(holder)
    const path = join(this.#folders[kind], name)
    const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? { mtimeMs: 0 }
    return Date.now() - mtimeMs < UNKNOWN_MS[kind]
  }
}

const holderOf = (mark: string): string => mark.split('.')[1] ?? ''

const namesIn = (folder: string): string[] => {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

const renew = (path: string): void => utimesSync(path, new Date(), new Date())

/** `rmSync` calls the system three times for each file. */
export const unlinkIfExists = (path: string): void => {
  try {
    unlinkSync(path)
  } catch (error) {
    if (!Error.isError(error) || !('code' in error) || error.code !== 'ENOENT') throw error
  }
}

const renewIfExists = (path: string): void => {
  try {
    renew(path)
  } catch {
    // The run has ended meanwhile.
  }
}
