import { MessageChannel, Worker, type MessagePort } from 'node:worker_threads'
import { messageOf, type Json } from '@scanfarm/language'
import { StopProgram } from '@scanfarm/functions'
import {
  ANSWERED,
  EXPRESSION_LIMITS,
  STOP,
  type Answer,
  type ExpressionLimits,
  type FromThread,
  type Job,
  type Outcome,
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
  /** Maximum number of programs that run or wait at the same time; more are queued. */
  readonly maxThreads?: number
  /** Idle time after which a thread is ended. */
  readonly idleMs?: number
}

/** Time beyond its limit that a program has before the watchdog ends its thread. */
const INTERRUPT_GRACE_MS = 2000

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
  readonly #resultChars: number
  dead = false

  constructor(limits: ExpressionLimits) {
    this.#resultChars = limits.resultChars
    const { port1, port2 } = new MessageChannel()
    this.#port = port1
    this.#worker = new Worker(new URL('thread.ts', import.meta.url), {
      workerData: { flags: this.#flags, port: port2, memoryBytes: limits.memoryBytes },
      transferList: [port2],
      stderr: false,
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: 64 + Math.ceil(limits.memoryBytes / (1 << 20)) },
    })
    this.#worker.on('message', (message: FromThread) => {
      if (message.kind === 'ready') this.#loaded.resolve()
      else if (message.kind === 'call') this.#host?.(message.name, message.args)
      else this.#settle?.(message)
    })
    const died = (reason: string) => {
      this.dead = true
      this.#loaded.resolve()
      this.#settle?.({ kind: 'error', message: reason })
    }
    this.#worker.on('error', (error) => died(`the expression's engine failed: ${messageOf(error)}`))
    this.#worker.on('exit', () => died('the expression was stopped'))
    this.ref(false)
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
    const stopping = new AbortController()
    let stopped = false
    let force: NodeJS.Timeout | undefined
    const watchdog = new Watchdog(job.limits.timeMs + INTERRUPT_GRACE_MS, () => {
      resolve({ kind: 'error', message: `the expression took longer than ${job.limits.timeMs / 1000}s` })
      void this.end()
    })
    const stop = () => {
      stopped = true
      stopping.abort()
      Atomics.store(this.#flags, STOP, 1)
      this.#wake()
      force ??= setTimeout(() => void this.end(), STOP_GRACE_MS)
    }
    this.#settle = resolve
    this.#host = (name, args) => {
      watchdog.pause()
      void this.#answer(host, name, args, stopping.signal, stop).then(() => watchdog.go())
    }
    Atomics.store(this.#flags, STOP, 0)
    signal.addEventListener('abort', stop, { once: true })
    this.ref(true)
    if (signal.aborted) stop()
    this.#worker.postMessage(job)
    void this.#loaded.promise.then(() => watchdog.go())
    const message = await promise
    watchdog.end()
    signal.removeEventListener('abort', stop)
    clearTimeout(force)
    stopping.abort()
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
      if (args.length > this.#resultChars)
        throw new Error(`the arguments of ${name} have more than ${this.#resultChars} characters as JSON`)
      const value = await host(name, JSON.parse(args) as Json[], signal)
      const json = JSON.stringify(value ?? null)
      if (json.length > this.#resultChars)
        throw new Error(`the result of ${name} has more than ${this.#resultChars} characters as JSON`)
      answer = { kind: 'value', json }
    } catch (error) {
      if (error instanceof StopProgram) stop()
      answer = { kind: 'error', message: messageOf(error) }
    }
    if (signal.aborted) return
    this.#port.postMessage(answer)
    this.#wake()
  }

  #wake(): void {
    Atomics.store(this.#flags, ANSWERED, 1)
    Atomics.notify(this.#flags, ANSWERED)
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
  readonly #waiting = new Set<(thread: Thread | undefined) => void>()
  readonly #all = new Set<Thread>()

  constructor({ limits = {}, maxThreads = 16, idleMs = 10_000 }: EngineOptions = {}) {
    this.#limits = { ...EXPRESSION_LIMITS, ...limits }
    this.#maxThreads = maxThreads
    this.#idleMs = idleMs
  }

  async evaluate(request: Evaluate): Promise<Outcome> {
    if (request.signal.aborted) return { kind: 'cancelled' }
    const thread = this.#free() ?? (await this.#turn(request.signal))
    if (thread === undefined) return { kind: 'cancelled' }
    const { code, functions } = request
    const globals = JSON.stringify(request.globals)
    try {
      return await thread.run({ kind: 'job', code, globals, functions, limits: this.#limits }, request)
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
    return this.#all.size < this.#maxThreads ? this.#start() : undefined
  }

  /** Waits for a free thread. Returns undefined if the signal aborts first. */
  async #turn(signal: AbortSignal): Promise<Thread | undefined> {
    const { promise, resolve } = Promise.withResolvers<Thread | undefined>()
    const leave = (): void => {
      this.#waiting.delete(resolve)
      resolve(undefined)
    }
    signal.addEventListener('abort', leave, { once: true })
    this.#waiting.add(resolve)
    try {
      return await promise
    } finally {
      signal.removeEventListener('abort', leave)
    }
  }

  #start(): Thread {
    const thread = new Thread(this.#limits)
    this.#all.add(thread)
    return thread
  }

  #give(used: Thread): void {
    if (used.dead) this.#all.delete(used)
    const [next] = this.#waiting
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
    for (const { timer } of this.#idle.splice(0)) clearTimeout(timer)
    await Promise.all([...this.#all].map(async (thread) => await thread.end()))
    this.#all.clear()
  }
}
