import { type ArtifactFound, type ArtifactStore, type StepClosed } from '@scanfarm/contracts'
import type { BegunLoop, KeptItems, KeptUnit, Mask, ResumeService } from '@scanfarm/engine'
import { errorText, pause } from '@scanfarm/platform'
import type { RunRecorder } from '../record/run-recorder.ts'
import type { StepBuffer } from '../record/step-buffer.ts'
import type { RunFolders } from '../workspaces/work-folders.ts'
import { sizeOfAll, storeChanges, WatchedFolders, type StoredFiles } from './changes.ts'
import type { Contents } from './contents.ts'
import { Loops, type RowInWork } from './loops.ts'
import type { EndedUnit, Entry, KeptRow } from './entries.ts'
import { entryKey, entryText, hasFailed, isNamed, putObject } from './entries.ts'
import { entryOf, joinedParts, withPart, type Part, type Pending } from './parts.ts'
import type { Restored } from './restore.ts'

export interface JournalOptions {
  readonly run: { readonly runUuid: string; readonly attempt: number }
  readonly folders: RunFolders
  readonly artifacts: ArtifactStore
  readonly contents: Contents
  readonly recorder: Pick<RunRecorder, 'stepTakenOver' | 'resumePoint' | 'facts' | 'beginsAt' | 'log'>
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
/** Bytes of files in memory until they are stored. */
const MAX_READ = 4 * 1024 * 1024
/** Entries that wait while another is stored. */
const MAX_WAITING = 4
const CHECK_MS = 10
/** What the first look at the folders is taken to cost. */
const FIRST_LOOK_MS = 0.3

/** The work of this thread: on a busy machine a look takes longer, but costs no more. Older versions of Node cannot tell. */
const spentMs = (): number => {
  if (!('threadCpuUsage' in process)) return performance.now()
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

const ownsRow = (unit: string, row: string): boolean =>
  row === unit || ['.', '/', '-'].some((mark) => row.startsWith(unit + mark))

/**
 * Stores after steps what an attempt has done, so that another attempt continues there. Finding changed files is
 * awaited before the next step; storing them is not. Several steps share an entry, of which each is a part.
 */
export class Journal implements ResumeService {
  readonly #options: JournalOptions
  readonly #earlier: ReadonlyMap<string, EndedUnit>
  readonly #running = new Map<string, (RowInWork | KeptRow)[]>()
  readonly #loops: Loops
  /** What is stored of the folders, and how the files were found. */
  readonly files: StoredFiles = new Map()
  readonly #folders: WatchedFolders
  readonly #keys: string[] = []
  #pending: Pending[] = []
  #parts: Part[] = []
  #timer: NodeJS.Timeout | undefined
  /** Changed before it was stored: it is stored with the next part. */
  #left: Part | undefined
  #artifacts: ArtifactFound[] = []
  #values = new Map<string, unknown>()
  #rows = 0
  #entries = 0
  #cost = FIRST_LOOK_MS
  #lookedAt = performance.now()
  #storedAt = performance.now()
  /** Entries that are being stored, one after the other. */
  #storing: Promise<void> = Promise.resolve()
  #waiting = 0
  #isFinding = false
  #stopped = false
  #failed: string | undefined
  #off = false
  /** Where an attempt is to begin. */
  #stop: string | undefined

  constructor(options: JournalOptions) {
    this.#options = options
    const { restored } = options
    this.#earlier = restored?.units ?? new Map()
    this.#loops = new Loops(restored?.loops)
    this.#stop = restored?.stop
    const files = [...(restored?.files ?? [])]
    this.#folders = new WatchedFolders(
      options.folders,
      files.map(([path, { signature }]) => [path, signature]),
    )
    if (restored === undefined) return
    for (const [path, file] of files) this.files.set(path, file)
    this.#values = new Map(restored.values)
    this.#keys.push(...restored.keys)
  }

  find(key: string): KeptUnit | undefined {
    return this.#stopped ? undefined : this.#earlier.get(key)?.unit
  }

  takeOver(key: string, nextSeq: () => number): { counted: number; artifacts: readonly ArtifactFound[] } {
    const ended = this.#earlier.get(key)
    if (ended === undefined) return { counted: 0, artifacts: [] }
    const { unit, artifacts } = ended
    const rows = this.#record(ended.rows, nextSeq)
    // The artifacts are recorded again, and noted then.
    this.#pending.push({ unit, rows, artifacts: [] })
    return { counted: rows.filter(({ counts }) => counts).length, artifacts }
  }

  stop(reason: string): void {
    this.#stopped = true
    this.#options.recorder.log('info', `no further step of an earlier attempt is taken over: ${reason}`)
  }

  async begin(key: string, step: string): Promise<void> {
    this.#beginsAt(step)
    if (this.#running.size === 0) await this.#look(false)
    this.#running.set(key, [])
  }

  async end(key: string, unit: KeptUnit | undefined): Promise<void> {
    const rows = this.#running.get(key) ?? []
    this.#running.delete(key)
    this.#loops.close(key)
    if (unit === undefined || this.#off) return
    if (this.#failed === undefined && hasFailed(unit)) {
      // A retry begins here.
      this.#failed = unit.step
      if (this.#running.size > 0) await this.#look(true, 'failed')
      this.#flush()
      this.#tellPoint()
    }
    this.#pending.push({ unit, rows, artifacts: this.#artifacts.splice(0) })
    this.#rows += rows.length
    if (this.#running.size > 0) await this.#look(true)
  }

  findItems(key: string): BegunLoop | undefined {
    return this.#stopped ? undefined : this.#loops.find(key)
  }

  takeOverItems(key: string, nextSeq: () => number, uniqueKey: (key: string) => string): void {
    this.addRows(key, this.#loops.takeOver(key, uniqueKey), nextSeq)
  }

  openItems(key: string, take: () => KeptItems): boolean {
    if (this.#off || !this.#running.has(key)) return false
    this.#loops.open(key, take)
    return true
  }

  async itemEnded(key: string): Promise<void> {
    if (this.#loops.ended(key)) await this.#look(true)
  }

  async remember<T>(key: string, make: () => T | Promise<T>): Promise<T> {
    if (!this.#values.has(key)) this.#values.set(key, await make())
    return this.#values.get(key) as T
  }

  /** Stores what was done before the loop of a unit. Returns whether another attempt would begin there. */
  async checkpoint(key: string): Promise<boolean> {
    while (this.#isFinding || this.#waiting >= MAX_WAITING) await pause(CHECK_MS)
    if (this.#running.has(key)) await this.#look(this.#running.size > 1, 'checkpoint')
    await this.#storing
    return !this.#off && this.#running.has(key)
  }

  /** Records rows of a unit that another run has executed. */
  addRows(key: string, rows: readonly KeptRow[], nextSeq: () => number): void {
    this.#running.get(key)?.push(...this.#record(rows, nextSeq))
  }

  /** Records rows in the order in which their steps began: they were noted when these ended. */
  #record(rows: readonly KeptRow[], nextSeq: () => number): KeptRow[] {
    return rows
      .toSorted((one, other) => one.record.seq - other.record.seq)
      .map((row) => {
        const taken = { ...row, record: { ...row.record, seq: nextSeq() } }
        this.#options.recorder.stepTakenOver(taken)
        return taken
      })
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

  /** Stores the rest, unless the run is lost. */
  async settled(isLost = false): Promise<void> {
    if (isLost) clearTimeout(this.#timer)
    else this.#flush()
    await this.#storing
  }

  /** The run needs no further attempt. */
  async discard(): Promise<void> {
    this.#off = true
    clearTimeout(this.#timer)
    await this.#storing
    const { artifacts } = this.#options
    const keys = new Set(this.#keys)
    for (const { kept } of this.files.values()) if (kept.kind === 'file') keys.add(kept.key)
    for (const key of keys) await artifacts.remove(key)
  }

  #beginsAt(step: string): void {
    const stop = this.#stop
    this.#stop = undefined
    if (stop === undefined || stop === '' || isNamed(step, stop)) return
    const where = step === '' ? 'the actions of a module' : `step ${step}`
    this.#options.recorder.beginsAt(
      `${where}, not ${stop}: steps between them have not ended or are not stored`,
    )
  }

  /** Notes the state of the run, and stores it when an entry is due. */
  async #look(isParallel: boolean, cause?: 'checkpoint' | 'failed'): Promise<void> {
    const isForced = cause === 'checkpoint' || this.#rows >= MAX_ROWS
    const hasNews = isForced || this.#pending.length > 0 || this.#loops.haveNews
    if (this.#off || this.#isFinding || this.#waiting >= MAX_WAITING || !hasNews) return
    const from = performance.now()
    const isDue = isForced || cause === 'failed' || from >= this.#dueAt
    const isCheap = from - this.#lookedAt >= this.#cost / this.#options.share
    if ((isParallel && !isDue) || !(isCheap || isForced)) return
    this.#isFinding = true
    const before = spentMs()
    try {
      if (this.#options.isShared()) {
        if (isDue) this.#giveUp('another run uses its workspace')
        return
      }
      // An item that ends from here on is in the next entry, even if its files are in this one.
      const loops = this.#loops.take(this.#running, this.#artifacts)
      const inMemory = this.#parts.flatMap(({ changes }) => [...changes.bytes.keys()])
      const changes = await this.#folders.look(MAX_READ - sizeOfAll(inMemory))
      const part = { pending: this.#pending.splice(0), loops, changes, isParallel }
      this.#parts = withPart(this.#parts, part, this.#options.contents.bytesLeft)
      if (isDue) this.#flush()
      else this.#timer ??= setTimeout(() => this.#flush(), this.#dueAt - performance.now()).unref()
    } catch (error) {
      this.#giveUp(errorText(error))
    } finally {
      this.#isFinding = false
      this.#lookedAt = performance.now()
      this.#cost = spentMs() - before
    }
  }

  get #dueAt(): number {
    return this.#storedAt + this.#options.everyMs
  }

  #flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const parts = this.#parts.splice(0)
    if (this.#off || parts.length === 0) return
    this.#rows = 0
    this.#storedAt = performance.now()
    this.#waiting += 1
    this.#storing = this.#storing.then(() => this.#store(parts))
  }

  /** Never rejects. */
  async #store(parts: readonly Part[]): Promise<void> {
    this.#waiting -= 1
    if (this.#off) return
    try {
      const { contents, folders } = this.#options
      contents.checkSize(0)
      const small = await contents.storeTogether(new Map(parts.flatMap(({ changes }) => [...changes.bytes])))
      const whole: [Part, StoredFiles][] = []
      for (const next of parts) {
        const part = this.#left === undefined ? next : joinedParts(this.#left, next)
        const files = await storeChanges(contents, folders, part, small)
        this.#left = files === undefined ? part : undefined
        if (files !== undefined) whole.push([part, files])
      }
      if (whole.length > 0) await this.#putEntry(whole)
    } catch (error) {
      this.#giveUp(errorText(error))
    }
  }

  async #putEntry(parts: readonly (readonly [Part, StoredFiles])[]): Promise<void> {
    const { run, artifacts, folders, secrets, inputs } = this.#options
    const values = Object.fromEntries(this.#values)
    const entries = parts.map(([part, stored], index): Entry => {
      // The first entry has everything that an earlier attempt left.
      const isFirst = this.#entries + index === 0
      const files = isFirst ? new Map([...this.files, ...stored]) : stored
      return { inputs, values, ...entryOf(part, files, isFirst ? this.#loops.earlier : []) }
    })
    const number = this.#entries + 1
    const key = entryKey(run, number)
    await putObject(artifacts, key, entryText(entries, folders), secrets, 'a value of a step')
    this.#keys.push(key)
    this.#entries = number
    for (const [{ changes }, stored] of parts) {
      for (const [path, file] of stored) this.files.set(path, file)
      for (const path of changes.removed) this.files.delete(path)
    }
    this.#tellPoint()
  }

  #tellPoint(): void {
    const { run, recorder } = this.#options
    const { runUuid, attempt } = run
    if (this.#entries > 0)
      recorder.resumePoint({ runUuid, attempt, entries: this.#entries, failed: this.#failed })
  }

  #giveUp(reason: string): void {
    if (this.#off) return
    this.#off = true
    clearTimeout(this.#timer)
    this.#parts = []
    this.#pending = []
    this.#artifacts = []
    const { recorder } = this.#options
    const where = this.#entries === 0 ? 'begins at the start' : 'continues after the steps that are stored'
    recorder.log('warn', `the run is not resumable from here: ${reason}. Another attempt ${where}`)
    recorder.facts({ 'not resumable': reason })
  }
}
