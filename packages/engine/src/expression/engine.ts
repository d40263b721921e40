import { MessageChannel, Worker, type MessagePort } from 'node:worker_threads'
import { messageOf, type Json } from '@scanfarm/language'
import { StopProgram } from '@scanfarm/functions'
import {
  EXPRESSION_LIMITS,
  SENT,
  STOP,
  type Answer,
  type ExpressionLimits,
  type FromThread,
  type Job,
  type Outcome,
  type ToThread,
} from './messages.ts'

export type { Outcome } from './messages.ts'

/** Executes the functions that a program calls. A rejection becomes an exception in the program. */
export type Host = (name: string, args: Json[], signal: AbortSignal) => Promise<Json> | Json

export interface Evaluate {
  readonly code: string
  readonly globals: Readonly<Record<string, Json>>
  readonly functions: readonly string[]
  readonly host: Host
  readonly signal: AbortSignal
}

export interface EngineOptions {
  readonly limits?: Partial<ExpressionLimits>
  /** Maximum number of programs that run at the same time; more are queued. */
  readonly maxThreads?: number
  /** Idle time after which a thread is ended. */
  readonly idleMs?: number
}

/** Time beyond its limit that a program has before the watchdog ends its thread. */
const INTERRUPT_GRACE_MS = 2000

/** Time that a program waits for a thread before another thread is started: most programs end much sooner. */
const START_AFTER_MS = 20

/** Time that a thread has to stop before it is terminated. */
const STOP_GRACE_MS = 250

/**
 * Terminates programs that QuickJS does not interrupt. QuickJS checks its clock only between operations, and some
 * states (for example out of memory while an error is created) never reach the check. The watchdog is suspended while a
 * function runs and starts from zero after it, because the time limit of the program itself is measured in the thread.
 */
class Watchdog {
  readonly #onExpired: () => void
  readonly #ms: number
  #timer: NodeJS.Timeout | undefined
  #last: NodeJS.Immediate | undefined
  #over = false

  constructor(ms: number, onExpired: () => void) {
    this.#ms = ms
    this.#onExpired = onExpired
  }

  go(): void {
    if (this.#over) return
    // If this event loop was blocked, the thread's message has already arrived and is processed before the immediate.
    this.#timer = setTimeout(() => (this.#last = setImmediate(this.#onExpired)), this.#ms)
  }

  pause(): void {
    clearTimeout(this.#timer)
    clearImmediate(this.#last)
  }

  end(): void {
    this.#over = true
    this.pause()
  }
}

class Thread {
  readonly #flags = new Int32Array(new SharedArrayBuffer(8))
  readonly #port: MessagePort
  readonly #worker: Worker
  readonly #loaded = Promise.withResolvers<void>()
  #settle: ((message: FromThread) => void) | undefined
  #host: ((name: string, args: string) => void) | undefined
  readonly #limits: ExpressionLimits
  isLoading = true
  dead = false

  constructor(limits: ExpressionLimits) {
    this.#limits = limits
    const { port1, port2 } = new MessageChannel()
    this.#port = port1
    this.#worker = new Worker(new URL('thread.ts', import.meta.url), {
      workerData: { flags: this.#flags, port: port2, limits },
      transferList: [port2],
      stderr: false,
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: 64 + Math.ceil(limits.memoryBytes / (1 << 20)) },
    })
    this.#worker.on('message', (message: FromThread) => {
      if (message.kind === 'ready') this.#ready()
      else if (message.kind === 'call') this.#host?.(message.name, message.args)
      else this.#settle?.(message)
    })
    const died = (reason: string) => {
      this.dead = true
      this.#ready()
      this.#settle?.({ kind: 'error', message: reason })
    }
    this.#worker.on('error', (error) => died(`the expression's engine failed: ${messageOf(error)}`))
    this.#worker.on('exit', () => died('the expression was stopped'))
    this.ref(false)
  }

  #ready(): void {
    this.isLoading = false
    this.#loaded.resolve()
  }

  /** Busy threads keep the process alive, idle threads do not. */
  ref(on: boolean): void {
    if (on) this.#worker.ref()
    else {
      this.#worker.unref()
      this.#port.unref()
    }
  }

  async run(job: Job, { host, signal }: Evaluate): Promise<Outcome> {
    const { promise, resolve } = Promise.withResolvers<FromThread>()
    let stopping: AbortController | undefined
    let stopped = false
    let force: NodeJS.Timeout | undefined
    const watchdog = new Watchdog(this.#limits.timeMs + INTERRUPT_GRACE_MS, () => {
      resolve({ kind: 'error', message: `the expression took longer than ${this.#limits.timeMs / 1000}s` })
      void this.end()
    })
    const stop = () => {
      stopped = true
      stopping?.abort()
      Atomics.store(this.#flags, STOP, 1)
      this.#wake()
      force ??= setTimeout(() => void this.end(), STOP_GRACE_MS)
    }
    this.#settle = resolve
    this.#host = (name, args) => {
      watchdog.pause()
      stopping ??= new AbortController()
      if (stopped) stopping.abort()
      void this.#answer(host, name, args, stopping.signal, stop).then(() => watchdog.go())
    }
    Atomics.store(this.#flags, STOP, 0)
    signal.addEventListener('abort', stop, { once: true })
    this.ref(true)
    if (signal.aborted) stop()
    this.#send(job)
    if (this.isLoading) void this.#loaded.promise.then(() => watchdog.go())
    else watchdog.go()
    const message = await promise
    watchdog.end()
    signal.removeEventListener('abort', stop)
    clearTimeout(force)
    stopping?.abort()
    this.#settle = undefined
    this.#host = undefined
    this.ref(false)
    if (stopped) return { kind: 'cancelled' }
    if (message.kind === 'value') return { kind: 'value', value: JSON.parse(message.json) as Json }
    return { kind: 'error', message: message.kind === 'error' ? message.message : 'no answer' }
  }

  async #answer(
    host: Host,
    name: string,
    args: string,
    signal: AbortSignal,
    stop: () => void,
  ): Promise<void> {
    let answer: Answer
    try {
      if (args.length > this.#limits.resultChars)
        throw new Error(
          `the arguments of ${name} have more than ${this.#limits.resultChars} characters as JSON`,
        )
      const value = await host(name, JSON.parse(args) as Json[], signal)
      const json = JSON.stringify(value ?? null)
      if (json.length > this.#limits.resultChars)
        throw new Error(`the result of ${name} has more than ${this.#limits.resultChars} characters as JSON`)
      answer = { kind: 'value', json }
    } catch (error) {
      if (error instanceof StopProgram) stop()
      answer = { kind: 'error', message: messageOf(error) }
    }
    if (signal.aborted) return
    this.#send(answer)
  }

  #send(message: ToThread): void {
    this.#port.postMessage(message)
    this.#wake()
  }

  #wake(): void {
    Atomics.store(this.#flags, SENT, 1)
    Atomics.notify(this.#flags, SENT)
  }

  async end(): Promise<void> {
    this.dead = true
    this.#port.close()
    await this.#worker.terminate()
  }
}

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
  readonly #idle: { thread: Thread; timer: NodeJS.Timeout }[] = []
  /** Programs that wait for a thread, with the time since when. */
  readonly #waiting = new Map<(thread: Thread | undefined) => void, number>()
  readonly #all = new Set<Thread>()
  #starting: NodeJS.Timeout | undefined

  constructor({ limits = {}, maxThreads = 16, idleMs = 10_000 }: EngineOptions = {}) {
    this.#limits = { ...EXPRESSION_LIMITS, ...limits }
    this.#maxThreads = maxThreads
    this.#idleMs = idleMs
  }

  async evaluate(request: Evaluate): Promise<Outcome> {
    if (request.signal.aborted) return { kind: 'cancelled' }
    const thread = this.#free() ?? (await this.#turn(request.signal))
    if (thread === undefined) return { kind: 'cancelled' }
    const { code } = request
    const [globals, functions] = [JSON.stringify(request.globals), JSON.stringify(request.functions)]
    try {
      return await thread.run({ kind: 'job', code, globals, functions }, request)
    } finally {
      this.#give(thread)
    }
  }

  #free(): Thread | undefined {
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      clearTimeout(idle.timer)
      if (!idle.thread.dead) return idle.thread
      this.#all.delete(idle.thread)
    }
    return this.#all.size === 0 ? this.#start() : undefined
  }

  /** Waits for a free thread. Returns undefined if the signal aborts first. */
  async #turn(signal: AbortSignal): Promise<Thread | undefined> {
    const { promise, resolve } = Promise.withResolvers<Thread | undefined>()
    const leave = (): void => {
      this.#waiting.delete(resolve)
      resolve(undefined)
    }
    signal.addEventListener('abort', leave, { once: true })
    this.#waiting.set(resolve, performance.now())
    this.#startLater()
    try {
      return await promise
    } finally {
      signal.removeEventListener('abort', leave)
    }
  }

  /** Starts a thread when the program that has waited longest has waited long enough, and no thread is loading. */
  #startLater(): void {
    const [oldest] = this.#waiting
    if (oldest === undefined || this.#starting !== undefined || this.#all.size >= this.#maxThreads) return
    const [next, since] = oldest
    const wait = (): void => {
      this.#starting = undefined
      const isDue =
        performance.now() - since >= START_AFTER_MS && ![...this.#all].some(({ isLoading }) => isLoading)
      if (isDue && this.#waiting.delete(next)) next(this.#start())
      this.#startLater()
    }
    this.#starting = setTimeout(wait, START_AFTER_MS)
  }

  #start(): Thread {
    const thread = new Thread(this.#limits)
    this.#all.add(thread)
    return thread
  }

  #give(used: Thread): void {
    if (used.dead) this.#all.delete(used)
    const [next] = this.#waiting.keys()
    if (next !== undefined) {
      this.#waiting.delete(next)
      return next(used.dead ? this.#start() : used)
    }
    if (used.dead) return
    const timer = setTimeout(() => {
      this.#idle.splice(
        this.#idle.findIndex(({ thread }) => thread === used),
        1,
      )
      this.#all.delete(used)
      void used.end()
    }, this.#idleMs)
    timer.unref()
    this.#idle.push({ thread: used, timer })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#starting)
    for (const { timer } of this.#idle.splice(0)) clearTimeout(timer)
    await Promise.all([...this.#all].map(async (thread) => await thread.end()))
    this.#all.clear()
  }
}
