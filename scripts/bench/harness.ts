import { chmodSync, mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { endProgress, progress, say } from '@scanfarm/cli/demo'

/** Users of commands pass through the folder. */
const PASSABLE = 0o711

/** Passed to every part. Limits that several parts use are measured once and cached. */
export class Harness implements AsyncDisposable {
  /** Smaller numbers everywhere: rough figures after seconds instead of minutes. */
  readonly quick: boolean
  readonly #scope = new AsyncDisposableStack()
  readonly #measured = new Map<string, Promise<unknown>>()
  #ending: Promise<void> | undefined

  /**
   * All temporary files are removed at the end: after the removal of many folders, ext4 needs ten times as long to make
   * new ones for a minute.
   */
  constructor(options: { quick: boolean }) {
    this.quick = options.quick
    const folder = mkdtempSync(join(tmpdir(), 'scanfarm-bench-'))
    chmodSync(folder, PASSABLE)
    process.env['TMPDIR'] = folder
    this.#scope.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  }

  /** Disposes the resource at the end or on Ctrl-C, in reverse order. */
  use<T extends AsyncDisposable>(resource: T): T {
    this.#scope.use(resource)
    return resource
  }

  /** Measures once for all callers. */
  once<T>(name: string, measure: () => Promise<T>): Promise<T> {
    const known = this.#measured.get(name) as Promise<T> | undefined
    if (known) return known
    this.note(name)
    const measured = measure()
    this.#measured.set(name, measured)
    return measured
  }

  /** Prints a line about the current measurement. */
  note(text: string): void {
    endProgress()
    say(`  ${text}`)
  }

  progress(done: number, total: number, what: string): void {
    if (done < total) progress(done, total, what)
    else endProgress()
  }

  /** Cleans up and ends the process on Ctrl-C, SIGTERM, an uncaught error, or a closed output. */
  disposeOnStop(): void {
    const stopWith = (code: number) => (reason: unknown) => {
      if (reason instanceof Error) console.error(reason)
      void this[Symbol.asyncDispose]().finally(() => process.exit(code))
    }
    process
      .once('SIGINT', stopWith(130))
      .once('SIGTERM', stopWith(143))
      .once('uncaughtException', stopWith(1))
    process.stdout.once('error', () => stopWith(1)(undefined))
  }

  /** True after the end has begun: later failures are caused by it. */
  get ended(): boolean {
    return this.#ending !== undefined
  }

  [Symbol.asyncDispose](): Promise<void> {
    return (this.#ending ??= this.#scope.disposeAsync())
  }
}
