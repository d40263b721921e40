import type { Value } from '@scanfarm/language'
import type { ItemCounts } from '../flow/kept-unit.ts'
import type { BatchAnswer } from '../flow/spread.ts'
import type { StepOutcome } from '../step/step-end.ts'

/** What became of the items of a loop. */
export class ItemTally implements ItemCounts {
  completed = 0
  failed = 0
  skipped = 0
  refused = 0
  firstError = ''
  skipModule: (StepOutcome & { kind: 'skip-module' }) | undefined

  restore(counts: ItemCounts): void {
    Object.assign(this, counts)
  }

  /** Adds those of the batch that follows. */
  join({ counts, skip }: BatchAnswer): void {
    this.completed += counts.completed
    this.failed += counts.failed
    this.skipped += counts.skipped
    this.refused += counts.refused
    this.firstError ||= counts.firstError
    if (skip !== undefined) this.skipModule ??= { kind: 'skip-module', message: skip }
  }

  get counts(): ItemCounts {
    const { completed, failed: failures, skipped, refused, firstError } = this
    return { completed, failed: failures, skipped, refused, firstError }
  }

  add(outcome: StepOutcome): void {
    if (outcome.kind === 'completed') this.completed++
    else if (outcome.kind === 'skipped') this.skipped++
    else if (outcome.kind === 'skip-module') this.skipModule = outcome
    else if (outcome.kind === 'failed') {
      this.failed++
      if (!outcome.continues && this.firstError === '') this.firstError = outcome.error
    }
  }

  get total(): number {
    return this.completed + this.failed + this.skipped + this.refused
  }

  get line(): string {
    const refused = this.refused === 0 ? '' : `, ${this.refused} refused`
    return `${this.total} items: ${this.completed} completed, ${this.failed} failed, ${this.skipped} skipped${refused}`
  }

  get exports(): Record<string, Value> {
    return { foreach_total: this.total, foreach_completed: this.completed, foreach_failed: this.failed }
  }
}
