import {
  resumePrefix,
  type ArtifactFound,
  type ArtifactStore,
  type ResumePoint,
  type StepRecord,
  type TakenFrom,
} from '@scanfarm/contracts'
import type { KeptItems, KeptUnit } from '@scanfarm/engine'
import { text as textOfStream } from 'node:stream/consumers'
import { inJson, movedText, type Folders } from '../workspaces/moved.ts'
import type { StoredFile } from './contents.ts'

export type KeptEntry =
  | ({ readonly kind: 'file'; readonly mode: number } & StoredFile)
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'folder'; readonly mode: number }

/** The row of a step that another attempt may take over. */
export interface KeptRow {
  /** Of the step: the same in every attempt. */
  readonly key: string
  readonly counts: boolean
  readonly record: StepRecord
}

export interface EndedUnit {
  readonly unit: KeptUnit
  readonly rows: readonly KeptRow[]
  readonly artifacts: readonly ArtifactFound[]
}

/** A loop that had not ended. */
export interface KeptLoop {
  readonly items: KeptItems
  readonly rows: readonly KeptRow[]
  readonly artifacts: readonly ArtifactFound[]
}

/** What has changed since the last entry of an attempt. An object of the artifact store, as JSON. */
export interface Entry {
  /** Of the workflow, params and everything else that all steps depend on. */
  readonly inputs: string
  readonly values: Readonly<Record<string, unknown>>
  readonly units: readonly EndedUnit[]
  readonly loops: readonly KeptLoop[]
  /** By path; null: it was removed. */
  readonly files: Readonly<Record<string, KeptEntry | null>>
}

/** All entries together. */
export interface KeptState {
  readonly inputs: string
  readonly values: ReadonlyMap<string, unknown>
  readonly units: ReadonlyMap<string, EndedUnit>
  readonly loops: ReadonlyMap<string, KeptLoop>
  readonly files: ReadonlyMap<string, KeptEntry>
  /** Keys of the entries. */
  readonly keys: readonly string[]
  /** The workspace that the contents of files may name. */
  readonly workspace: string
}

/** Stand for the folders of an attempt in what another one reads. */
export const ANY: Folders = { attempt: '~scanfarm:TempDir~', workspace: '~scanfarm:Output~' }

const FORMAT = 3

/** The first line is for the reader of the second. */
export const entryText = (entry: Entry, folders: Folders): string =>
  `${JSON.stringify({ format: FORMAT, workspace: folders.workspace })}\n${movedText(JSON.stringify(entry), inJson, folders, ANY)}`

const readEntry = (text: string, folders: Folders): { readonly workspace: string; readonly entry: Entry } => {
  const end = text.indexOf('\n')
  const { format, workspace } = JSON.parse(text.slice(0, end < 0 ? undefined : end)) as Record<
    string,
    unknown
  >
  if (format !== FORMAT || typeof workspace !== 'string')
    throw new Error('another version of Scanfarm stored it')
  return { workspace, entry: JSON.parse(movedText(text.slice(end + 1), inJson, ANY, folders)) as Entry }
}

export const entryKey = (from: TakenFrom, number: number): string => `${resumePrefix(from)}/${number}.json`

/** Whether what follows has to be executed again. */
const isBefore = ({ from }: ResumePoint, { units }: Entry): boolean => {
  if (from === undefined) return true
  if (from === 'failed')
    return units.every(({ unit }) => unit.error === undefined && unit.outcome.kind !== 'failed')
  return units.every(({ unit }) => unit.step !== from.step && !unit.step.endsWith(`/${from.step}`))
}

type Ranges = [first: number, last: number][]

/** Sorted, and as few as possible. */
const merged = (ranges: Ranges): Ranges => {
  const found: Ranges = []
  for (const [first, last] of ranges.toSorted(([one], [other]) => one - other)) {
    const before = found.at(-1)
    if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last)
    else found.push([first, last])
  }
  return found
}

/** The entries of a loop together. There may be thousands with a million items: ranges are merged when they double. */
class JoinedLoop {
  #ended: Ranges = []
  #most = 1_000
  readonly #outputs: KeptItems['outputs'][number][] = []
  readonly #rows: KeptRow[] = []
  readonly #artifacts: ArtifactFound[] = []
  #items: KeptItems | undefined

  add({ items, rows, artifacts }: KeptLoop): void {
    this.#items = items
    for (const [first, last] of items.ended) this.#ended.push([first, last])
    for (const output of items.outputs) this.#outputs.push(output)
    for (const row of rows) this.#rows.push(row)
    for (const artifact of artifacts) this.#artifacts.push(artifact)
    if (this.#ended.length > this.#most) this.#merge()
  }

  get loop(): KeptLoop | undefined {
    if (this.#items === undefined) return undefined
    this.#merge()
    const items = { ...this.#items, ended: this.#ended, outputs: this.#outputs }
    return { items, rows: this.#rows, artifacts: this.#artifacts }
  }

  #merge(): void {
    this.#ended = merged(this.#ended)
    this.#most = 1_000 + 2 * this.#ended.length
  }
}

/** A retry repeats a whole loop that had failures, and the named step. */
const isRepeated = ({ from }: ResumePoint, { items }: KeptLoop): boolean =>
  from !== undefined && (from !== 'failed' || items.error !== undefined || items.counts.failed > 0)

/** Reads what an attempt has stored, up to what a retry repeats. Rejects when something is missing. */
export const readEntries = async (
  artifacts: Pick<ArtifactStore, 'get'>,
  point: ResumePoint,
  folders: Folders,
): Promise<KeptState> => {
  const values = new Map<string, unknown>()
  const units = new Map<string, EndedUnit>()
  const begun = new Map<string, JoinedLoop>()
  const files = new Map<string, KeptEntry>()
  const keys: string[] = []
  let inputs = ''
  let workspace = ''
  for (let number = 1; number <= point.entries; number++) {
    const key = entryKey(point, number)
    const found = await artifacts.get(key)
    if (found === undefined) throw new Error(`the artifact store has no ${key} any more`)
    const { entry, workspace: named } = readEntry(await textOfStream(found.body), folders)
    if (!isBefore(point, entry)) break
    workspace = named
    inputs = entry.inputs
    keys.push(key)
    for (const [name, value] of Object.entries(entry.values)) values.set(name, value)
    for (const ended of entry.units) units.set(ended.unit.key, ended)
    for (const loop of entry.loops) {
      const { key: name, begins } = loop.items
      const known = (begins ? undefined : begun.get(name)) ?? new JoinedLoop()
      known.add(loop)
      begun.set(name, known)
    }
    for (const [path, kept] of Object.entries(entry.files)) {
      if (kept === null) files.delete(path)
      else files.set(path, kept)
    }
  }
  const loops = new Map<string, KeptLoop>()
  for (const [name, { loop }] of begun)
    if (loop !== undefined && !isRepeated(point, loop)) loops.set(name, loop)
  return { inputs, values, units, loops, files, keys, workspace }
}
