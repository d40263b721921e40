import { EXPRESSION_LIMITS, type ExpressionLimits, type Outcome } from './messages.ts'
import { Program, Thread, type Evaluate } from './program-thread.ts'

export type { Outcome } from './messages.ts'

export interface EngineOptions {
  readonly limits?: Partial<ExpressionLimits>
  /** Maximum number of programs that run at the same time; more are queued. */
  readonly maxThreads?: number
}

/** Time that a program waits before another thread starts: most programs end much sooner. */
const START_AFTER_MS = 20
/** Idle time after which a thread is ended. */
const IDLE_MS = 10_000

/**
 * Evaluates expressions (JavaScript) in QuickJS, without access to files, network, modules or this process: programs
 * see only the variables and functions that they are given. Each program has its own QuickJS runtime, so that programs
 * cannot affect each other. They run in threads, so that neither an endless loop nor a function that waits for hours
 * blocks anything else; all of them stop on cancel.
 */
export class ExpressionEngine implements AsyncDisposable {
  readonly #limits: ExpressionLimits
  readonly #maxThreads: number
  readonly #threads = new Set<Thread>()
  /** The one that was used last is used next; the others end after their time. */
  readonly #idle = new Map<Thread, NodeJS.Timeout>()
  /** The oldest first. */
  readonly #waiting = new Set<Program>()
  #starting: NodeJS.Timeout | undefined
  #isClosed = false

  constructor({ limits = {}, maxThreads = 16 }: EngineOptions = {}) {
    this.#limits = { ...EXPRESSION_LIMITS, ...limits }
    this.#maxThreads = maxThreads
  }

  async evaluate(request: Evaluate): Promise<Outcome> {
    const { signal } = request
    if (signal.aborted || this.#isClosed) return { kind: 'cancelled' }
    const program = new Program(request)
    const stop = (): void => {
      if (this.#waiting.delete(program)) program.end({ kind: 'cancelled' })
      else program.thread?.stop()
    }
    signal.addEventListener('abort', stop, { once: true })
    this.#waiting.add(program)
    this.#distribute()
    try {
      return await program.outcome
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

  #distribute(): void {
    for (const thread of [...this.#idle.keys()].reverse()) {
      const [program] = this.#waiting
      if (program === undefined) return
      clearTimeout(this.#idle.get(thread))
      this.#idle.delete(thread)
      this.#execute(thread, program)
    }
    const [program] = this.#waiting
    if (program !== undefined && this.#threads.size === 0) this.#execute(this.#start(), program)
    this.#startLater()
  }

  #execute(thread: Thread, program: Program): void {
    this.#waiting.delete(program)
    thread.execute(program)
  }

  /** Starts a thread when the oldest program has waited long enough, and no thread is loading. */
  #startLater(): void {
    if (this.#isClosed || this.#starting !== undefined || this.#threads.size >= this.#maxThreads) return
    if (this.#waiting.size === 0) return
    this.#starting = setTimeout(() => {
      this.#starting = undefined
      const [program] = this.#waiting
      const isLoading = [...this.#threads].some((thread) => thread.isLoading)
      const hasWaited = program !== undefined && performance.now() - program.since >= START_AFTER_MS
      if (hasWaited && !isLoading) this.#execute(this.#start(), program)
      this.#startLater()
    }, START_AFTER_MS)
  }

  #start(): Thread {
    const thread = new Thread(this.#limits, {
      idle: (idle) => this.#reuse(idle),
      died: (dead) => {
        this.#forget(dead)
        if (!this.#isClosed) this.#distribute()
      },
    })
    this.#threads.add(thread)
    return thread
  }

  #forget(thread: Thread): void {
    this.#threads.delete(thread)
    clearTimeout(this.#idle.get(thread))
    this.#idle.delete(thread)
  }

  #reuse(thread: Thread): void {
    if (thread.dead) return
    const timer = setTimeout(() => {
      this.#forget(thread)
      void thread.end()
    }, IDLE_MS)
    timer.unref()
    this.#idle.set(thread, timer)
    this.#distribute()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#starting)
    for (const timer of this.#idle.values()) clearTimeout(timer)
    for (const program of this.#waiting) program.end({ kind: 'cancelled' })
    this.#waiting.clear()
    await Promise.all([...this.#threads].map(async (thread) => await thread.end()))
    this.#threads.clear()
  }
}
