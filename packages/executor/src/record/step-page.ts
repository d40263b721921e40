import { join } from 'node:path'
import type { StepClosed, StepOpened, StepRecord } from '@scanfarm/contracts'
import type { ExecutorLimits } from '../limits.ts'
import { OutputTail } from './output-tail.ts'
import { StepLog } from './step-log.ts'
import { clipped, clippedValues } from './storable.ts'

export interface StepPageOptions {
  readonly id: string
  readonly limits: ExecutorLimits
  /** Where the file of a long output is made. */
  readonly folder: string
}

/** All that is known of one step. `version` grows with every change, so that a writer knows what it has written. */
export class StepPage {
  version = 1
  readonly opened: StepOpened
  readonly #options: StepPageOptions
  readonly #tail: OutputTail
  #log: StepLog | undefined
  #closed: StepClosed | undefined
  #logFile = ''

  constructor(opened: StepOpened, options: StepPageOptions) {
    this.opened = opened
    this.#options = options
    this.#tail = new OutputTail(options.limits.tailBytes)
  }

  get log(): StepLog | undefined {
    return this.#log
  }

  /** A promise is back-pressure. Throws when the file of a long output cannot be made. */
  write(chunk: Buffer): void | Promise<void> {
    this.version += 1
    const { limits, folder, id } = this.#options
    if (this.#log === undefined && this.#tail.total + chunk.length > limits.tailBytes) {
      const before = this.#tail.bytes()
      this.#tail.push(chunk)
      this.#log = new StepLog(join(folder, `${id}.log`), limits.stepLogBytes)
      if (before.length > 0) void this.#log.write(before)
    } else this.#tail.push(chunk)
    return this.#log?.write(chunk)
  }

  /** `logFile`: where the whole output will lie, or `""`. A closed step is written once and never again. */
  close(closed: StepClosed, logFile: string): void {
    this.version += 1
    this.#closed = closed
    this.#logFile = logFile
  }

  record(): StepRecord {
    const { opened } = this
    const closed = this.#closed
    const { limits, id } = this.#options
    return {
      seq: opened.seq,
      id,
      name: opened.name,
      type: opened.type,
      module: opened.module,
      status: closed?.status ?? 'running',
      command: opened.command,
      output: this.#tail.text(),
      errorMessage: clipped(closed?.errorMessage ?? '', limits.messageChars),
      exports: clippedValues(closed?.exports ?? {}, limits.exportChars),
      exitCode: closed?.exitCode ?? null,
      durationMs: Math.round(closed?.durationMs ?? 0),
      logFile: this.#logFile,
      startedAt: opened.startedAt.toISOString(),
      completedAt: closed?.completedAt.toISOString() ?? null,
    }
  }
}
