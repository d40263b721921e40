import { endProgress, progress, say } from '../demo/screen.ts'

/** What every part gets. Limits that several parts stand beside are measured once and kept. */
export class Bench implements AsyncDisposable {
  /** Smaller numbers everywhere: minutes become seconds, figures become rough. */
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

  /** Measures once, whatever how many ask. */
  once<T>(name: string, measure: () => Promise<T>): Promise<T> {
    const known = this.#kept.get(name) as Promise<T> | undefined
    if (known) return known
    this.note(name)
    const measured = measure()
    this.#kept.set(name, measured)
    return measured
  }

  /** A line about what is being measured now. */
  note(text: string): void {
    endProgress()
    say(`  ${text}`)
  }

  progress(done: number, total: number, what: string): void {
    if (done < total) progress(done, total, what)
    else endProgress()
  }

  /** On Ctrl-C, SIGTERM, a bug, or when nobody reads what is printed any more: cleans up and ends the process. */
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

  /** True once it was told to end: what fails from then on fails because of that. */
  get ended(): boolean {
    return this.#ending !== undefined
  }

  [Symbol.asyncDispose](): Promise<void> {
    return (this.#ending ??= this.#scope.disposeAsync())
  }
}
