import { createHash } from 'node:crypto'
import type { BegunLoop, ItemCounts, KeptItems } from '../flow/kept-unit.ts'
import { UnitTrace } from '../flow/tally.ts'
import type { StepContext } from '../step/step-context.ts'

export type Range = [first: number, last: number]

/** Sorted, and as few as possible. */
export const mergedRanges = (ranges: readonly Readonly<Range>[]): Range[] => {
  const found: Range[] = []
  for (const [first, last] of ranges.toSorted(([one], [other]) => one - other)) {
    const before = found.at(-1)
    if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last)
    else found.push([first, last])
  }
  return found
}

/** One bit for each item. */
class Bits {
  #bytes = new Uint8Array(128)

  has(index: number): boolean {
    return ((this.#bytes[index >> 3] ?? 0) & (1 << (index & 7))) !== 0
  }

  add(index: number): void {
    const at = index >> 3
    if (at >= this.#bytes.length) {
      const bytes = new Uint8Array(2 * (at + 1))
      bytes.set(this.#bytes)
      this.#bytes = bytes
    }
    this.#bytes[at] = (this.#bytes[at] ?? 0) | (1 << (index & 7))
  }
}

/** A running hash of the items of a file. */
class ItemsHash {
  readonly #hash = createHash('sha256')
  read = 0

  add(item: string): void {
    this.#hash.update(item).update('\n')
    this.read += 1
  }

  get text(): string {
    return this.#hash.copy().digest('hex')
  }
}

const beginsWith = async (items: AsyncIterable<string>, { read, hash }: KeptItems): Promise<boolean> => {
  const found = new ItemsHash()
  if (read > 0)
    for await (const item of items) {
      found.add(item)
      if (found.read === read) break
    }
  return found.read === read && found.text === hash
}

/** Notes which items of a loop have ended, so that another attempt of the run leaves them out. */
export class Ledger {
  readonly #at: StepContext
  readonly #ended = new Bits()
  readonly #hash = new ItemsHash()
  readonly trace: UnitTrace
  #earlier: { readonly read: number; readonly hash: string } = { read: 0, hash: '' }
  #begins = true
  #fresh: number[] = []
  #outputs: (readonly [index: number, text: string])[] = []
  #counts: () => ItemCounts

  constructor(at: StepContext, counts: () => ItemCounts) {
    this.#at = at
    this.#counts = counts
    this.trace = new UnitTrace(at.trace)
  }

  restore(items: KeptItems): void {
    this.#earlier = items
    for (const [first, last] of items.ended) for (let index = first; index <= last; index++) this.#end(index)
    this.#outputs = [...items.outputs]
    if (items.worked) this.trace.worked()
    if (items.error !== undefined) this.trace.failed(items.error)
    Object.assign(this.#at.module.run.env, items.env)
  }

  /** The next item of the file. Returns whether it has ended already. */
  reads(item: string): boolean {
    const index = this.#hash.read
    this.#hash.add(item)
    return this.#ended.has(index)
  }

  async itemEnded(index: number, output: string): Promise<void> {
    this.#end(index)
    if (output !== '') this.#outputs.push([index, output])
    await this.#at.module.run.input.resume?.itemEnded(this.#at.key)
  }

  /** What has changed since the last call. */
  take(): KeptItems {
    const begins = this.#begins
    this.#begins = false
    const isFurther = this.#hash.read >= this.#earlier.read
    const { read, hash } = isFurther ? { read: this.#hash.read, hash: this.#hash.text } : this.#earlier
    return {
      key: this.#at.key,
      begins,
      ended: mergedRanges(this.#fresh.splice(0).map((index) => [index, index])),
      read,
      hash,
      counts: this.#counts(),
      outputs: this.#outputs.splice(0),
      worked: this.trace.hasWorked,
      error: this.trace.error,
      env: { ...this.#at.module.run.env },
    }
  }

  #end(index: number): void {
    this.#ended.add(index)
    this.#fresh.push(index)
  }
}

/** Opens the ledger of a loop with what an earlier attempt noted, if the file has the same items. */
export const openLedger = async (
  at: StepContext,
  items: () => AsyncIterable<string>,
  counts: () => ItemCounts,
): Promise<{ readonly ledger?: Ledger; readonly begun?: BegunLoop }> => {
  const { run } = at.module
  const { resume } = run.input
  const ledger = new Ledger(at, counts)
  // The outer loop begins the whole item again.
  if (at.afterItem !== undefined || resume?.openItems(at.key, () => ledger.take()) !== true) return {}
  const begun = resume.findItems(at.key)
  if (begun === undefined) return { ledger }
  if (!(await beginsWith(items(), begun.items))) {
    resume.stop(`the items of step ${at.step.name} have changed`)
    return { ledger }
  }
  resume.takeOverItems(
    at.key,
    () => run.nextSeq(),
    (key) => run.uniqueKey(key),
  )
  for (const found of begun.artifacts) run.input.recorder.artifact(found)
  ledger.restore(begun.items)
  return { ledger, begun }
}
