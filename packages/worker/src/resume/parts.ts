import { joinedChanges, sizeOfAll, type Changes } from './changes.ts'
import type { EndedUnit, Entry, KeptEntry, KeptLoop, KeptRow } from './entries.ts'
import { keptRow, type LoopInWork, type RowInWork } from './loops.ts'

export type Pending = EndedUnit<RowInWork | KeptRow>

/** What was done up to a look at the folders, and has to be stored. */
export interface Part {
  readonly pending: readonly Pending[]
  readonly loops: readonly LoopInWork[]
  readonly changes: Changes
  /** Other steps were running. */
  readonly isParallel: boolean
}

/** A retry begins before both or after both. */
export const joinedParts = (first: Part, then: Part): Part => ({
  pending: [...first.pending, ...then.pending],
  loops: [...first.loops, ...then.loops],
  changes: joinedChanges(first.changes, then.changes),
  isParallel: first.isParallel || then.isParallel,
})

/** Contents that were replaced before an entry was due are stored if they take less than this part of the room. */
const REPLACED = 1 / 16_384

/** `room`: bytes that the run may still store. */
export const withPart = (parts: readonly Part[], part: Part, room: number): Part[] => {
  const changed = new Set(part.changes.changed.map(({ path }) => path))
  const replaced = parts.flatMap(({ changes }) => changes.changed.filter(({ path }) => changed.has(path)))
  const all = [...parts, part]
  return sizeOfAll(replaced) > room * REPLACED ? [all.reduce(joinedParts)] : all
}

export const entryOf = (
  { pending, loops, changes: { removed } }: Part,
  files: Iterable<readonly [string, { readonly kept: KeptEntry }]>,
  earlierLoops: readonly KeptLoop[],
): Pick<Entry, 'units' | 'loops' | 'files'> => ({
  units: pending.map(({ unit, rows, artifacts }) => ({ unit, rows: rows.map(keptRow), artifacts })),
  loops: [...earlierLoops, ...loops].map((loop) => ({ ...loop, rows: loop.rows.map(keptRow) })),
  files: Object.fromEntries([
    ...[...files].map(([path, { kept }]) => [path, kept] as const),
    ...removed.map((path) => [path, null] as const),
  ]),
})
