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

const joined = (before: KeptLoop | undefined, next: KeptLoop): KeptLoop => {
  if (before === undefined || next.items.begins) return next
  return {
    items: {
      ...next.items,
      ended: [...before.items.ended, ...next.items.ended],
      outputs: [...before.items.outputs, ...next.items.outputs],
    },
    rows: [...before.rows, ...next.rows],
    artifacts: [...before.artifacts, ...next.artifacts],
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
  const loops = new Map<string, KeptLoop>()
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
    for (const loop of entry.loops) loops.set(loop.items.key, joined(loops.get(loop.items.key), loop))
    for (const [path, kept] of Object.entries(entry.files)) {
      if (kept === null) files.delete(path)
      else files.set(path, kept)
    }
  }
  for (const [key, loop] of loops) if (isRepeated(point, loop)) loops.delete(key)
  return { inputs, values, units, loops, files, keys, workspace }
}
