import { EXPRESSION_LIMITS, type ExpressionLimits, type Outcome } from './messages.ts'
import { Program, PROGRAMS_AHEAD, Thread, type Evaluate } from './program-thread.ts'

export type { Outcome } from './messages.ts'

export interface EngineOptions {
  readonly limits?: Partial<ExpressionLimits>
  /** Maximum number of programs that run at the same time; more are queued. */
  readonly maxThreads?: number
  /** Idle time after which a thread is ended. */
  readonly idleMs?: number
}

/** Time that a program waits in or for a thread before it gets another one: most programs end much sooner. */
const START_AFTER_MS = 20

const isDue = (program: Program | undefined): program is Program =>
  program !== undefined && performance.now() - program.since >= START_AFTER_MS

/**
 * Evaluates expressions (JavaScript) in QuickJS, without access to files, network, modules or this process: programs
 * see only the variables and functions that they are given. Each program has its own QuickJS runtime, so that programs
 * cannot affect each other. They run in threads, so that neither an endless loop nor a function that waits for hours
 * blocks anything else; all of them stop on cancel.
 */
export class ExpressionEngine implements AsyncDisposable {
  readonly #limits: ExpressionLimits
  readonly #maxThreads: number
  readonly #idleMs: number
  readonly #threads = new Set<Thread>()
  readonly #idle = new Map<Thread, NodeJS.Timeout>()
  /** Programs for which no thread has room, the oldest first. */
  readonly #waiting = new Set<Program>()
  #starting: NodeJS.Timeout | undefined
  #isClosed = false

  constructor({ limits = {}, maxThreads = 16, idleMs = 10_000 }: EngineOptions = {}) {
    this.#limits = { ...EXPRESSION_LIMITS, ...limits }
    this.#maxThreads = maxThreads
    this.#idleMs = idleMs
  }

  async evaluate(request: Evaluate): Promise<Outcome> {
    const { signal } = request
    if (signal.aborted || this.#isClosed) return { kind: 'cancelled' }
    const program = new Program(request)
    const stop = (): void => {
      if (this.#takeBack(program)) program.end({ kind: 'cancelled' })
      else program.thread?.stop(program)
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

  /** False if the program has begun. */
  #takeBack(program: Program): boolean {
    return this.#waiting.delete(program) || program.thread?.takeBack(program) === true
  }

  #distribute(): void {
    for (const program of this.#waiting) {
      const thread = this.#roomiest()
      if (thread === undefined) break
      this.#waiting.delete(program)
      this.#give(thread, program)
    }
    this.#startLater()
  }

  #roomiest(): Thread | undefined {
    if (this.#threads.size === 0) return this.#start()
    let found: Thread | undefined
    for (const thread of this.#threads)
      if (!thread.dead && thread.count < (found?.count ?? PROGRAMS_AHEAD)) found = thread
    return found
  }

  #give(thread: Thread, program: Program): void {
    clearTimeout(this.#idle.get(thread))
    this.#idle.delete(thread)
    thread.send(program)
  }

  /** The program that has waited longest, here or in a thread. */
  #oldest(): Program | undefined {
    const [first] = this.#waiting
    const all = [...this.#threads].flatMap(({ queued }) => queued).concat(first ?? [])
    return all.reduce<Program | undefined>(
      (oldest, one) => (oldest === undefined || one.since < oldest.since ? one : oldest),
      undefined,
    )
  }

  /** Starts a thread when the program that has waited longest has waited long enough, and no thread is loading. */
  #startLater(): void {
    if (this.#isClosed || this.#starting !== undefined || this.#threads.size >= this.#maxThreads) return
    if (this.#oldest() === undefined) return
    this.#starting = setTimeout(() => {
      this.#starting = undefined
      const oldest = this.#oldest()
      const isLoading = [...this.#threads].some((thread) => thread.isLoading)
      if (!isLoading && isDue(oldest) && this.#takeBack(oldest)) this.#give(this.#start(), oldest)
      this.#startLater()
    }, START_AFTER_MS)
  }

  #start(): Thread {
    const thread = new Thread(this.#limits, {
      room: (free) => this.#useRoom(free),
      died: (dead, left) => {
        this.#threads.delete(dead)
        clearTimeout(this.#idle.get(dead))
        this.#idle.delete(dead)
        if (this.#isClosed) for (const program of left) program.end({ kind: 'cancelled' })
        else this.#putBack(left)
      },
    })
    this.#threads.add(thread)
    return thread
  }

  #putBack(programs: readonly Program[]): void {
    const later = [...programs, ...this.#waiting]
    this.#waiting.clear()
    for (const program of later) this.#waiting.add(program)
    this.#distribute()
  }

  /**
   * A program that waits too long in another thread comes before new ones: the program before it may call a function that
   * takes hours. An idle thread takes any.
   */
  #useRoom(thread: Thread): void {
    if (thread.dead) return
    const oldest = this.#threads.size > 1 ? this.#oldest() : undefined
    const isElsewhere = oldest?.thread !== undefined && oldest.thread !== thread
    if (isElsewhere && isDue(oldest) && this.#takeBack(oldest)) this.#give(thread, oldest)
    this.#distribute()
    if (thread.count > 0) return
    const next = this.#oldest()
    if (next !== undefined && this.#takeBack(next)) return this.#give(thread, next)
    const timer = setTimeout(() => {
      this.#idle.delete(thread)
      this.#threads.delete(thread)
      void thread.end()
    }, this.#idleMs)
    timer.unref()
    this.#idle.set(thread, timer)
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
