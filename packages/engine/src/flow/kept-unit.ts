import type { ArtifactFound } from '@scanfarm/contracts'
import { Text, type Json, type Piece, type Value } from '@scanfarm/language'

/** A value with the origin of its parts, as JSON. */
export type KeptValue = { readonly text: readonly Piece[] } | { readonly json: Json }

export const keptValue = (value: Value): KeptValue =>
  value instanceof Text ? { text: value.pieces } : { json: value as Json }

export const valueOf = (kept: KeptValue): Value =>
  'text' in kept ? new Text(kept.text) : (kept.json as Exclude<Json, string>)

/** Variables that a unit has set, and the environment of commands after it. */
export interface KeptState {
  readonly variables: readonly (readonly [name: string, value: KeptValue, isExported: boolean])[]
  readonly env: Readonly<Record<string, string>>
}

/** What is known of an ended unit: a step of a module's list, a hook, or the actions of a module. */
export interface KeptUnit extends KeptState {
  readonly key: string
  /** Name of the step, with its module in a flow; `""` for actions. */
  readonly step: string
  /** Hash of the rendered command; `""`: nothing was rendered. */
  readonly command: string
  readonly outcome:
    | { readonly kind: 'completed'; readonly goto?: string | undefined }
    | { readonly kind: 'failed'; readonly error: string; readonly continues: boolean }
    | { readonly kind: 'skipped' }
    | { readonly kind: 'skip-module'; readonly message: string }
    | { readonly kind: 'actions'; readonly abort: boolean }
  readonly worked: boolean
  /** The first failure of the step or of a step inside it. */
  readonly error?: string | undefined
}

/** What is known of a loop that has not ended: the figures so far, and the rest since it was noted before. */
export interface KeptItems {
  /** Of the step. */
  readonly key: string
  /** The loop began, so that what was noted before is void. */
  readonly begins: boolean
  /** Ended items: first and last index of ranges. */
  readonly ended: readonly (readonly [first: number, last: number])[]
  /** The number of items that were read, and their hash. */
  readonly read: number
  readonly hash: string
  readonly counts: ItemCounts
  /** Outputs of ended items with their indexes. */
  readonly outputs: readonly (readonly [index: number, text: string])[]
  readonly worked: boolean
  /** The first failure of an item. */
  readonly error?: string | undefined
  readonly env: Readonly<Record<string, string>>
}

export interface ItemCounts {
  readonly completed: number
  readonly failed: number
  readonly skipped: number
  readonly refused: number
  readonly firstError: string
}

/** A loop that an earlier attempt began: what it noted, and what it recorded meanwhile. */
export interface BegunLoop {
  readonly items: KeptItems
  /** Number of failed items that have a row. */
  readonly rows: number
  readonly artifacts: readonly ArtifactFound[]
}

/** What earlier attempts of the run did, and where this attempt notes what it does for later ones. */
export interface ResumeService {
  /** Undefined: no earlier attempt has ended the unit, or it has to be repeated. */
  find(key: string): KeptUnit | undefined
  /** The unit is not executed: records its rows. Returns how many of them count, and the artifacts found meanwhile. */
  takeOver(
    key: string,
    nextSeq: () => number,
  ): { readonly counted: number; readonly artifacts: readonly ArtifactFound[] }
  /** No further unit is taken over. */
  stop(reason: string): void
  /** A unit begins that changes files. `step`: as in KeptUnit. */
  begin(key: string, step: string): Promise<void>
  /** It ended; undefined: it was interrupted. */
  end(key: string, unit: KeptUnit | undefined): Promise<void>
  /** Undefined: no earlier attempt has begun the loop of this unit, or it has to be repeated. */
  findItems(key: string): BegunLoop | undefined
  /** The items that ended are not executed: records their rows. */
  takeOverItems(key: string, nextSeq: () => number, uniqueKey: (key: string) => string): void
  /** Whether the items of the loop can be noted. `take`: what has changed since it was called before. */
  openItems(key: string, take: () => KeptItems): boolean
  /** An item of the loop has ended. */
  itemEnded(key: string): Promise<void>
  /** A JSON value that every attempt must have in common. */
  remember<T>(key: string, make: () => T | Promise<T>): Promise<T>
}
