import type { ArtifactFound, StepClosed } from '@scanfarm/contracts'
import type { StepBuffer } from '../record/step-buffer.ts'
import type { KeptRow } from '../resume/entries.ts'
import { keptRow, type RowInWork } from '../resume/loops.ts'

/** What a batch records for the run whose items it executes. */
export class BatchNotes {
  readonly artifacts: ArtifactFound[] = []
  readonly #rows: RowInWork[] = []
  readonly #key: string

  constructor(key: string) {
    this.#key = key
  }

  stepClosed({ key }: StepClosed, counts: boolean, buffer: StepBuffer): void {
    if (key !== this.#key) this.#rows.push({ key, counts, buffer })
  }

  artifact(found: ArtifactFound): false {
    this.artifacts.push(found)
    return false
  }

  get rows(): KeptRow[] {
    return this.#rows.map(keptRow)
  }
}
