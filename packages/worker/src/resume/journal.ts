import {
  type ArtifactFound,
  type ArtifactStore,
  type ResumePoint,
  type StepClosed,
} from '@scanfarm/contracts'
import type { BegunLoop, KeptItems, KeptUnit, Mask, ResumeService } from '@scanfarm/engine'
import { errorText, pause } from '@scanfarm/platform'
import { Readable } from 'node:stream'
import type { StepBuffer } from '../record/step-buffer.ts'
import type { RunFolders } from '../workspaces/work-folders.ts'
import { bytesOf, type Contents, type StoredFile } from './contents.ts'
import { keptRow, Loops, type LoopInWork, type RowInWork } from './loops.ts'
import { entryKey, entryText, type Entry, type EndedUnit, type KeptEntry, type KeptRow } from './entries.ts'
import { findEntries, openEntry, isAsFound, NotResumable, type FoundEntry } from './work-files.ts'
import type { Restored } from './restore.ts'

/** What the recorder of the attempt does for a journal. */
export interface JournalRecorder {
  /** Adds the row of a step that an earlier attempt executed. */
  stepTakenOver(row: KeptRow, seq: number): void
  resumePoint(point: ResumePoint): void
  facts(facts: Readonly<Record<string, string>>): void
  log(level: 'info' | 'warn', line: string): void
}

export interface JournalOptions {
  readonly run: { readonly runUuid: string; readonly attempt: number }
  readonly folders: RunFolders
  readonly artifacts: ArtifactStore
  readonly contents: Contents
  readonly recorder: JournalRecorder
  /** Secrets, which are never stored. */
  readonly secrets: Mask
  /** Of the workflow, params and everything else that all steps depend on. */
  readonly inputs: string
  /** Least time between two entries. */
  readonly everyMs: number
  /** The share of the time of a run that finding changed files may take. */
  readonly share: number
  /** Whether another run uses the workspace. */
  isShared(): boolean
  /** What an earlier attempt has left, if its inputs are the same. */
  readonly restored: Restored | undefined
}

/** Rows in memory, above which an entry is due. */
const MAX_ROWS = 1_000
/** Bytes of files in memory while they are stored. */
const MAX_READ = 4 * 1024 * 1024
/** Times of files may come from another clock. */
const CLOCK_MS = 1_000
/** Entries that wait while another is stored. */
const MAX_WAITING = 4
const CHECK_MS = 10

interface Changes {
  readonly found: readonly FoundEntry[]
  /** Contents by path, if they are small. */
  readonly bytes: ReadonlyMap<string, Buffer>
}

interface Pending {
  readonly unit: KeptUnit
  readonly rows: readonly (RowInWork | KeptRow)[]
  artifacts: ArtifactFound[]
}

interface Done {
  readonly pending: readonly Pending[]
  readonly loops: readonly LoopInWork[]
}

const ownsRow = (unit: string, row: string): boolean =>
  row === unit || ['.', '/', '-'].some((mark) => row.startsWith(unit + mark))

/**
 * Stores after steps what an attempt has done, so that another attempt continues there. Finding changed files is
 * awaited before the next step; storing them is not.
 */
export class Journal implements ResumeService {
  readonly #options: JournalOptions
  readonly #since = Date.now() - CLOCK_MS
  readonly #earlier: ReadonlyMap<string, EndedUnit>
  readonly #running = new Map<string, (RowInWork | KeptRow)[]>()
  readonly #loops: Loops
  readonly #files = new Map<string, { readonly signature: string; readonly kept: KeptEntry }>()
  readonly #keys: string[] = []
  #pending: Pending[] = []
  #artifacts: ArtifactFound[] = []
  #values = new Map<string, unknown>()
  #rows = 0
  #entries = 0
  #cost = 0
  #lastAt = performance.now()
  /** Entries that are being stored, one after the other. */
  #storing: Promise<void> = Promise.resolve()
  #waiting = 0
  #isFinding = false
  #stopped = false
  #off = false

  constructor(options: JournalOptions) {
    this.#options = options
    const { restored } = options
    this.#earlier = restored?.units ?? new Map()
    this.#loops = new Loops(restored?.loops)
    if (restored === undefined) return
    for (const [path, file] of restored.files) this.#files.set(path, file)
    this.#values = new Map(restored.values)
    this.#keys.push(...restored.keys)
  }

  /** What is stored of the folders, and how the files were found. */
  get files(): ReadonlyMap<string, { readonly signature: string; readonly kept: KeptEntry }> {
    return this.#files
  }

  find(key: string): KeptUnit | undefined {
    return this.#stopped ? undefined : this.#earlier.get(key)?.unit
  }

  takeOver(key: string, nextSeq: () => number): { counted: number; artifacts: readonly ArtifactFound[] } {
    const ended = this.#earlier.get(key)
    if (ended === undefined) return { counted: 0, artifacts: [] }
    const { unit, rows, artifacts } = ended
    for (const row of rows) this.#options.recorder.stepTakenOver(row, nextSeq())
    // The artifacts are recorded again, and noted then.
    this.#pending.push({ unit, rows, artifacts: [] })
    return { counted: rows.filter(({ counts }) => counts).length, artifacts }
  }

  stop(reason: string): void {
    this.#stopped = true
    this.#options.recorder.log('info', `no further step of an earlier attempt is taken over: ${reason}`)
  }

  async begin(key: string): Promise<void> {
    if (this.#running.size === 0) await this.#storeIfNeeded(false)
    this.#running.set(key, [])
  }

  async end(key: string, unit: KeptUnit | undefined): Promise<void> {
    const rows = this.#running.get(key) ?? []
    this.#running.delete(key)
    this.#loops.close(key)
    if (unit === undefined || this.#off) return
    this.#pending.push({ unit, rows, artifacts: this.#artifacts.splice(0) })
    this.#rows += rows.length
    if (this.#running.size > 0) await this.#storeIfNeeded(true)
  }

  findItems(key: string): BegunLoop | undefined {
    return this.#stopped ? undefined : this.#loops.find(key)
  }

  takeOverItems(key: string, nextSeq: () => number): void {
    this.addRows(key, this.#loops.takeOver(key), nextSeq)
  }

  openItems(key: string, take: () => KeptItems): boolean {
    if (this.#off || !this.#running.has(key)) return false
    this.#loops.open(key, take)
    return true
  }

  async itemEnded(key: string): Promise<void> {
    if (this.#loops.ended(key)) await this.#storeIfNeeded(true)
  }

  async remember<T>(key: string, make: () => T | Promise<T>): Promise<T> {
    if (!this.#values.has(key)) this.#values.set(key, await make())
    return this.#values.get(key) as T
  }

  /** Stores what was done before the loop of a unit. Returns whether another attempt would begin there. */
  async checkpoint(key: string): Promise<boolean> {
    while (this.#isFinding || this.#waiting >= MAX_WAITING) await pause(CHECK_MS)
    if (this.#running.has(key)) await this.#storeIfNeeded(this.#running.size > 1, true)
    await this.#storing
    return !this.#off && this.#running.has(key)
  }

  /** Records rows of a unit that another run has executed. */
  addRows(key: string, rows: readonly KeptRow[], nextSeq: () => number): void {
    for (const row of rows) this.#options.recorder.stepTakenOver(row, nextSeq())
    this.#running.get(key)?.push(...rows)
  }

  /** A step of this attempt has ended. */
  stepClosed({ key }: StepClosed, counts: boolean, buffer: StepBuffer): void {
    if (this.#off) return
    for (const [unit, rows] of this.#running) if (ownsRow(unit, key)) rows.push({ key, counts, buffer })
  }

  artifact(found: ArtifactFound): void {
    if (!this.#off) this.#artifacts.push(found)
  }

  /** A runner whose files are elsewhere. */
  usesOtherMachine(): void {
    this.#giveUp('its commands run where their files are not on this machine')
  }

  /** Resolves when nothing is being stored any more. */
  async settled(): Promise<void> {
    await this.#storing
  }

  /** The run needs no further attempt. */
  async discard(): Promise<void> {
    this.#off = true
    await this.#storing
    const { artifacts } = this.#options
    const keys = new Set(this.#keys)
    for (const { kept } of this.#files.values()) if (kept.kind === 'file') keys.add(kept.key)
    for (const key of keys) await artifacts.remove(key)
  }

  async #storeIfNeeded(isParallel: boolean, isForced = false): Promise<void> {
    const hasNews = isForced || this.#pending.length > 0 || this.#loops.haveNews
    if (this.#off || this.#isFinding || this.#waiting >= MAX_WAITING || !hasNews) return
    const passed = performance.now() - this.#lastAt
    const least = Math.max(this.#options.everyMs, this.#cost / this.#options.share)
    if (passed < least && this.#rows < MAX_ROWS && !isForced) return
    const from = performance.now()
    this.#isFinding = true
    // An item that ends from here on is in the next entry, even if its files are in this one.
    const loops = this.#loops.take(this.#running, this.#artifacts)
    try {
      if (this.#options.isShared()) throw new NotResumable('another run uses its workspace')
      const found = await findEntries(this.#options.folders, this.#since, (path) => this.#files.has(path))
      const changes = await this.#read(found)
      const pending = this.#pending.splice(0)
      this.#rows = 0
      this.#waiting += 1
      this.#storing = this.#storing.then(() => this.#store({ pending, loops }, changes, isParallel))
    } catch (error) {
      this.#giveUp(errorText(error))
    }
    this.#isFinding = false
    this.#lastAt = performance.now()
    this.#cost = this.#lastAt - from
  }

  /** The next step may change files at once: small ones are read before it begins. */
  async #read(found: readonly FoundEntry[]): Promise<Changes> {
    const changed = found.filter(({ path, signature }) => this.#files.get(path)?.signature !== signature)
    const sizes = changed.map((entry) => (entry.kind === 'file' ? entry.size : 0))
    const bytes = new Map<string, Buffer>()
    if (sizes.reduce((sum, size) => sum + size, 0) > MAX_READ) return { found, bytes }
    for (const entry of changed) {
      if (entry.kind !== 'file') continue
      using handle = openEntry(this.#options.folders, entry.path)
      if (handle !== undefined && isAsFound(handle, entry)) bytes.set(entry.path, await bytesOf(handle))
    }
    return { found, bytes }
  }

  /** Never rejects. */
  async #store(done: Done, { found, bytes }: Changes, isParallel: boolean): Promise<void> {
    this.#waiting -= 1
    if (this.#off) return
    try {
      const changed = found.filter(({ path, signature }) => this.#files.get(path)?.signature !== signature)
      const paths = new Set(found.map(({ path }) => path))
      const removed = [...this.#files.keys()].filter((path) => !paths.has(path))
      const { contents } = this.#options
      contents.checkSize(0)
      const stored = new Map<string, { signature: string; kept: KeptEntry }>()
      const news = new Set(changed.map(({ path }) => path))
      const small = await contents.storeTogether(new Map([...bytes].filter(([path]) => news.has(path))))
      for (const entry of changed) {
        const kept = await this.#keep(entry, isParallel, small.get(entry.path))
        if (kept !== undefined) stored.set(entry.path, { signature: entry.signature, kept })
        // The next step has changed the file: the state after this one is gone.
        else if (!isParallel) return void this.#pending.unshift(...done.pending)
      }
      await this.#putEntry(done, stored, removed)
    } catch (error) {
      this.#giveUp(errorText(error))
    }
  }

  /** Undefined: it has changed since. While other steps run, what it holds now is stored. */
  async #keep(entry: FoundEntry, isParallel: boolean, small?: StoredFile): Promise<KeptEntry | undefined> {
    const { mode, path } = entry
    if (entry.kind === 'folder') return { kind: 'folder', mode }
    if (entry.kind === 'link') return { kind: 'link', target: entry.target }
    const { contents, folders } = this.#options
    if (small !== undefined) return { kind: 'file', mode, ...small }
    using handle = openEntry(folders, path)
    if (handle === undefined || !handle.facts.isFile() || handle.facts.nlink > 1) return undefined
    if (!isParallel && !isAsFound(handle, entry)) return undefined
    const file = await contents.store(handle, handle.facts.size)
    if (file === undefined) return undefined
    using after = openEntry(folders, path)
    if (!isParallel && (after === undefined || !isAsFound(after, entry))) return undefined
    return { kind: 'file', mode, ...file }
  }

  async #putEntry(
    { pending, loops }: Done,
    stored: ReadonlyMap<string, { signature: string; kept: KeptEntry }>,
    removed: readonly string[],
  ): Promise<void> {
    const { run, recorder, artifacts, folders, secrets, inputs } = this.#options
    // The first entry has everything that an earlier attempt left.
    const isFirst = this.#entries === 0
    const files = isFirst ? new Map([...this.#files, ...stored]) : stored
    const earlierLoops = isFirst ? this.#loops.earlier : []
    const entry: Entry = {
      inputs,
      values: Object.fromEntries(this.#values),
      units: pending.map(({ unit, rows, artifacts: found }) => ({
        unit,
        rows: rows.map(keptRow),
        artifacts: found,
      })),
      loops: [...earlierLoops, ...loops].map((loop) => ({ ...loop, rows: loop.rows.map(keptRow) })),
      files: Object.fromEntries([
        ...[...files].map(([path, { kept }]) => [path, kept] as const),
        ...removed.map((path) => [path, null] as const),
      ]),
    }
    const text = entryText(entry, folders)
    if (secrets.text(text) !== text) throw new NotResumable('a value of a step contains a secret')
    const number = this.#entries + 1
    const key = entryKey(run, number)
    await artifacts.put(key, Readable.from([Buffer.from(text)]))
    this.#keys.push(key)
    this.#entries = number
    for (const [path, file] of stored) this.#files.set(path, file)
    for (const path of removed) this.#files.delete(path)
    recorder.resumePoint({ runUuid: run.runUuid, attempt: run.attempt, entries: number })
  }

  #giveUp(reason: string): void {
    if (this.#off) return
    this.#off = true
    this.#pending = []
    this.#artifacts = []
    const { recorder } = this.#options
    const where = this.#entries === 0 ? 'begins at the start' : 'continues after the steps that are stored'
    recorder.log('warn', `the run is not resumable from here: ${reason}. Another attempt ${where}`)
    recorder.facts({ 'not resumable': reason })
  }
}
