import type { ArtifactFound, ArtifactStore, ResumePoint, StepRecord, TakenFrom } from '@scanfarm/contracts'
import { resumePrefix } from '@scanfarm/contracts'
import { mergedRanges, type KeptItems, type KeptUnit, type Mask, type Range } from '@scanfarm/engine'
import { Readable } from 'node:stream'
import { text as textOfStream } from 'node:stream/consumers'
import { inJson, movedText, type Folders } from '../workspaces/moved.ts'
import type { StoredFile } from './contents.ts'
import { NotResumable } from './work-files.ts'

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

export interface EndedUnit<Row = KeptRow> {
  readonly unit: KeptUnit
  readonly rows: readonly Row[]
  readonly artifacts: readonly ArtifactFound[]
}

/** A loop that had not ended. */
export interface KeptLoop<Row = KeptRow> {
  readonly items: KeptItems
  readonly rows: readonly Row[]
  readonly artifacts: readonly ArtifactFound[]
}

/** What a step, or several together, have changed. A line of JSON in an object of the artifact store. */
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
  /** Keys of the objects. */
  readonly keys: readonly string[]
  /** The step that was to be executed again first, if it is known. */
  readonly stop: string | undefined
  /** The workspace that the contents of files may name. */
  readonly workspace: string
}

/** Stand for the folders of an attempt in what another one reads. */
export const ANY: Folders = { attempt: '~scanfarm:TempDir~', workspace: '~scanfarm:Output~' }

const FORMAT = 4

/** The first line is for the reader of the others. */
export const entryText = (entries: readonly Entry[], folders: Folders): string => {
  const lines = entries.map((entry) => movedText(JSON.stringify(entry), inJson, folders, ANY))
  return [JSON.stringify({ format: FORMAT, workspace: folders.workspace }), ...lines].join('\n')
}

const workspaceIn = (line: string): string => {
  const { format, workspace } = JSON.parse(line) as Record<string, unknown>
  if (format === FORMAT && typeof workspace === 'string') return workspace
  throw new Error('another version of Scanfarm stored it')
}

export const entryKey = (from: TakenFrom, number: number): string => `${resumePrefix(from)}/${number}.json`

export const hasFailed = ({ error, outcome }: KeptUnit): boolean =>
  error !== undefined || outcome.kind === 'failed'

/** Whether a step that a request names by itself, or with its module, is this one. */
export const isNamed = (step: string, name: string): boolean => step === name || step.endsWith(`/${name}`)

/** The first of the units that has to be executed again. */
const stopIn = ({ from }: ResumePoint, { units }: Entry): KeptUnit | undefined => {
  if (from === undefined) return undefined
  return units.find(({ unit }) => (from === 'failed' ? hasFailed(unit) : isNamed(unit.step, from.step)))?.unit
}

/** The entries of a loop together. There may be thousands with a million items: ranges are merged when they double. */
class JoinedLoop {
  #ended: Range[] = []
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
    this.#ended = mergedRanges(this.#ended)
    this.#most = 1_000 + 2 * this.#ended.length
  }
}

/** A retry repeats a whole loop that had failures, and the named step. */
const isRepeated = ({ from }: ResumePoint, { items }: KeptLoop): boolean =>
  from !== undefined && (from !== 'failed' || items.error !== undefined || items.counts.failed > 0)

/** The text of an object. */
export const readObject = async (artifacts: Pick<ArtifactStore, 'get'>, key: string): Promise<string> => {
  const found = await artifacts.get(key)
  if (found === undefined) throw new Error(`the artifact store has no ${key} any more`)
  return await textOfStream(found.body)
}

/** Stores a text. Rejects if it contains a secret; `what`: what would contain it. */
export const putObject = async (
  artifacts: Pick<ArtifactStore, 'put'>,
  key: string,
  text: string,
  secrets: Mask,
  what: string,
): Promise<void> => {
  if (secrets.text(text) !== text) throw new NotResumable(`${what} contains a secret`)
  await artifacts.put(key, Readable.from([Buffer.from(text)]))
}

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
  let stop: string | undefined
  for (let number = 1; number <= point.entries && stop === undefined; number++) {
    const key = entryKey(point, number)
    const [first = '', ...lines] = (await readObject(artifacts, key)).split('\n')
    const named = workspaceIn(first)
    for (const line of lines) {
      const entry = JSON.parse(movedText(line, inJson, ANY, folders)) as Entry
      stop = stopIn(point, entry)?.step
      if (stop !== undefined) break
      if (keys.at(-1) !== key) keys.push(key)
      workspace = named
      inputs = entry.inputs
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
  }
  const loops = new Map<string, KeptLoop>()
  for (const [name, { loop }] of begun)
    if (loop !== undefined && !isRepeated(point, loop)) loops.set(name, loop)
  return { inputs, values, units, loops, files, keys, workspace, stop }
}
