import type { ArtifactFound } from '@scanfarm/contracts'
import type { BegunLoop, KeptItems } from '@scanfarm/engine'
import type { StepBuffer } from '../record/step-buffer.ts'
import type { KeptLoop, KeptRow } from './entries.ts'

export interface RowInWork {
  readonly counts: boolean
  readonly buffer: StepBuffer
  readonly key: string
}

export const keptRow = (row: RowInWork | KeptRow): KeptRow =>
  'record' in row ? row : { key: row.key, counts: row.counts, record: row.buffer.record() }

/** What an entry holds of a loop. */
export type LoopInWork = KeptLoop<RowInWork | KeptRow>

interface OpenLoop {
  readonly take: () => KeptItems
  isChanged: boolean
  /** How many of the rows of its unit are in entries. */
  rows: number
}

/** Loops of an attempt that have not ended. */
export class Loops {
  readonly #earlier: Map<string, KeptLoop>
  readonly #open = new Map<string, OpenLoop>()

  constructor(earlier: Iterable<readonly [string, KeptLoop]> = []) {
    this.#earlier = new Map(earlier)
  }

  /** What an earlier attempt left, and this one has not begun yet. */
  get earlier(): readonly KeptLoop[] {
    return [...this.#earlier.values()]
  }

  get haveNews(): boolean {
    return [...this.#open.values()].some(({ isChanged }) => isChanged)
  }

  find(key: string): BegunLoop | undefined {
    const found = this.#earlier.get(key)
    if (found === undefined) return undefined
    const failed = found.rows.filter((row) => row.key.startsWith(`${key}/failed-`))
    return { items: found.items, rows: failed.length, artifacts: found.artifacts }
  }

  /** The rows to record. A loop that is repeated in this attempt begins at its first item. */
  takeOver(key: string, uniqueKey: (key: string) => string): readonly KeptRow[] {
    const rows = this.#earlier.get(key)?.rows ?? []
    this.#earlier.delete(key)
    this.ended(key)
    // Items that are executed now have rows with the same keys.
    return rows.map((row) => ({ ...row, key: uniqueKey(row.key.replace(/#\d+$/, '')) }))
  }

  open(key: string, take: () => KeptItems): void {
    this.#open.set(key, { take, isChanged: false, rows: 0 })
  }

  /** An item has ended. Returns whether the loop is open. */
  ended(key: string): boolean {
    const loop = this.#open.get(key)
    if (loop !== undefined) loop.isChanged = true
    return loop !== undefined
  }

  close(key: string): void {
    this.#open.delete(key)
  }

  /** What the next entry holds. `artifacts` is emptied if a loop has changed. */
  take(
    rowsOf: ReadonlyMap<string, readonly (RowInWork | KeptRow)[]>,
    artifacts: ArtifactFound[],
  ): LoopInWork[] {
    return [...this.#open].flatMap(([key, loop]) => {
      if (!loop.isChanged) return []
      loop.isChanged = false
      const rows = rowsOf.get(key)?.slice(loop.rows) ?? []
      loop.rows += rows.length
      return [{ items: loop.take(), rows, artifacts: artifacts.splice(0) }]
    })
  }
}
