import { endProgress, progress, say } from '../demo/screen.ts'

/** What every part gets. Limits that several parts use are measured once and cached. */
export class Bench implements AsyncDisposable {
  /** Uses smaller numbers everywhere: takes seconds instead of minutes, with rough figures. */
  readonly quick: boolean
  readonly #scope = new AsyncDisposableStack()
  readonly #kept = new Map<string, Promise<unknown>>()
  #ending: Promise<void> | undefined

  constructor(options: { quick: boolean }) {
    this.quick = options.quick
  }

  /** Freed at the end, or on Ctrl-C, in reverse order; `release` frees it earlier. */
  use<T extends AsyncDisposable>(resource: T): T {
    this.#scope.use(resource)
    return resource
  }

  /** Measures once for all callers. */
  once<T>(name: string, measure: () => Promise<T>): Promise<T> {
    const known = this.#kept.get(name) as Promise<T> | undefined
    if (known) return known
    this.note(name)
    const measured = measure()
    this.#kept.set(name, measured)
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

  /** On Ctrl-C, SIGTERM, a bug, or a closed output: cleans up and ends the process. */
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

  /** True once it was asked to end: later failures are consequences of that. */
  get ended(): boolean {
    return this.#ending !== undefined
  }

  [Symbol.asyncDispose](): Promise<void> {
    return (this.#ending ??= this.#scope.disposeAsync())
  }
}
