import { hash } from 'node:crypto'
import { rmSync, statSync, utimesSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isHere, isRunning, nameProcess, namesIn, unlinkIfExists, writeMark } from './process-name.ts'

const KINDS = ['run', 'removal'] as const
type Kind = (typeof KINDS)[number]

/**
 * How long a mark of another machine or container is valid, whose processes cannot be seen. A removal only renames a
 * folder, so its mark expires soon.
 */
const UNKNOWN_MS: Readonly<Record<Kind, number>> = { run: 24 * 3_600_000, removal: 5_000 }
const PAUSE_MS = 5

const keyOf = (workspace: string): string => hash('sha256', workspace).slice(0, 32)

/**
 * Which workspaces of a work folder have runs, in all programs that share the folder. Both a run and a removal first
 * create a mark and then check for marks of the other kind: a removal gives up, a run waits for the removal. In any
 * order, at least one of the two sees the mark of the other.
 */
export class WorkspaceUses {
  /** A folder for each kind: a run reads only the marks of removals, which are few. */
  readonly #folders: Readonly<Record<Kind, string>>
  readonly #self = nameProcess()
  #count = 0

  /** `base`: the work folder. */
  constructor(base: string) {
    this.#folders = { run: join(base, 'workspace-uses'), removal: join(base, 'workspace-removals') }
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
        if (isRunning(holderOf(name))) renewIfExists(path)
        else if (!this.#isLive(name, kind)) rmSync(path, { force: true })
      }
  }

  #mark(workspace: string, kind: Kind, runUuid = ''): () => void {
    this.#count += 1
    const path = join(
      this.#folders[kind],
      [keyOf(workspace), this.#self, this.#count, runUuid, kind].join('.'),
    )
    writeMark(path)
    return () => unlinkIfExists(path)
  }

  #has(workspace: string, kind: Kind): boolean {
    const key = `${keyOf(workspace)}.`
    return this.#names(kind).some((name) => name.startsWith(key) && this.#isLive(name, kind))
  }

  #names(kind: Kind): string[] {
    return namesIn(this.#folders[kind])
  }

  #isLive(name: string, kind: Kind): boolean {
    const holder = holderOf(name)
    if (isHere(holder)) return holder === this.#self || isRunning(holder)
    const path = join(this.#folders[kind], name)
    const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? { mtimeMs: 0 }
    return Date.now() - mtimeMs < UNKNOWN_MS[kind]
  }
}

const holderOf = (mark: string): string => mark.split('.')[1] ?? ''

const renewIfExists = (path: string): void => {
  try {
    utimesSync(path, new Date(), new Date())
  } catch {
    // The run has ended meanwhile.
  }
}
