import { isUtf8 } from 'node:buffer'
import { join } from 'node:path'
import type { StepClosed, StepOpened, StepRecord } from '@scanfarm/contracts'
import type { ExecutorLimits } from '../slots/limits.ts'
import { OutputTail, StepLog, type GrowingLog } from './logs.ts'
import { clipped, clippedValues } from './row-values.ts'

export interface StepBufferOptions {
  readonly id: string
  readonly limits: ExecutorLimits
  /** Where the file of a long output is made. */
  readonly folder: string
}

/** The row of a step. `version` grows with every change, so that a batch knows what it has written. */
export interface StepRow {
  readonly version: number
  /** Approximate text in its row. */
  readonly chars: number
  record(): StepRecord
}

/** The row of one step and its output. */
export class StepBuffer implements GrowingLog, StepRow {
  version = 1
  readonly opened: StepOpened
  readonly #options: StepBufferOptions
  readonly #tail: OutputTail
  #log: StepLog | undefined
  #closed: StepClosed | undefined
  #exports: Readonly<Record<string, string>> = {}
  #logFile = ''
  #chars: number

  constructor(opened: StepOpened, options: StepBufferOptions) {
    this.opened = opened
    this.#options = options
    this.#tail = new OutputTail(options.limits.tailBytes)
    this.#chars = opened.command.length + opened.name.length + opened.module.length
  }

  get log(): StepLog | undefined {
    return this.#log
  }

  /** A promise is back-pressure. Throws when the file of a long output cannot be made. */
  write(chunk: Buffer): void | Promise<void> {
    this.version += 1
    const { limits } = this.#options
    if (this.#log === undefined && this.#tail.total + chunk.length > limits.tailBytes) {
      const before = this.#tail.bytes()
      this.#tail.push(chunk)
      this.#openLog(before)
    } else this.#tail.push(chunk)
    return this.#log?.write(chunk)
  }

  /** Bytes of its output that can be read. */
  get length(): number {
    return this.#log?.length ?? this.#tail.total
  }

  async read(start: number, end: number): Promise<Buffer> {
    return this.#log?.read(start, end) ?? Buffer.from(this.#tail.bytes().subarray(start, end))
  }

  /** Makes a log of an output that its row would change: readers count the bytes of the original. */
  keepBytes(): void {
    const bytes = this.#tail.bytes()
    if (this.#log === undefined && (!isUtf8(bytes) || bytes.includes(0))) this.#openLog(bytes)
  }

  #openLog(before: Buffer): void {
    const { limits, folder, id } = this.#options
    this.#log = new StepLog(join(folder, `${id}.log`), limits.stepLogBytes)
    if (before.length > 0) void this.#log.write(before)
  }

  get chars(): number {
    return this.#chars + Math.min(this.#tail.total, this.#options.limits.tailBytes)
  }

  /** `logFile`: key that the complete output will have, or `""`. */
  close(closed: StepClosed, logFile: string): void {
    this.version += 1
    const { exportChars, allExportChars, exports } = this.#options.limits
    this.#exports = clippedValues(closed.exports, { each: exportChars, all: allExportChars, count: exports })
    // Only what the row needs is kept: rows stay in memory while the database is away.
    this.#closed = {
      ...closed,
      exports: {},
      errorMessage: clipped(closed.errorMessage, this.#options.limits.messageChars),
    }
    this.#logFile = logFile
    this.#chars += this.#closed.errorMessage.length
    for (const [name, value] of Object.entries(this.#exports)) this.#chars += name.length + value.length
  }

  record(): StepRecord {
    const { opened } = this
    const closed = this.#closed
    const { limits, id } = this.#options
    return {
      seq: opened.seq,
      id,
      name: clipped(opened.name, limits.nameChars),
      type: opened.type,
      module: clipped(opened.module, limits.nameChars),
      status: closed?.status ?? 'running',
      command: opened.command,
      output: this.#tail.text(),
      errorMessage: closed?.errorMessage ?? '',
      exports: this.#exports,
      exitCode: closed?.exitCode ?? null,
      durationMs: Math.round(closed?.durationMs ?? 0),
      logFile: this.#logFile,
      startedAt: opened.startedAt.toISOString(),
      completedAt: closed?.completedAt.toISOString() ?? null,
    }
  }
}
