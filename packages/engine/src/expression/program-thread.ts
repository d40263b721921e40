import { MessageChannel, Worker, type MessagePort } from 'node:worker_threads'
import { messageOf, type Json } from '@scanfarm/language'
import { StopProgram } from '@scanfarm/functions'
import {
  SENT,
  STOP,
  type Answer,
  type ExpressionLimits,
  type FromThread,
  type Outcome,
  type ToThread,
} from './messages.ts'
import { threadEnv } from '../thread-env.ts'

/** Executes the functions that a program calls. A rejection becomes an exception in the program. */
type Host = (name: string, args: Json[], signal: AbortSignal) => Promise<Json> | Json

export interface Evaluate {
  readonly code: string
  readonly globals: Readonly<Record<string, Json>>
  readonly functions: readonly string[]
  readonly host: Host
  readonly signal: AbortSignal
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

/** A program from its submission to its end. */
export class Program {
  readonly request: Evaluate
  /** As JSON. Made here, so that a value without JSON is an error of this program alone. */
  readonly globals: string
  readonly functions: string
  readonly since = performance.now()
  readonly #end = Promise.withResolvers<Outcome>()
  /** The thread that executes it. */
  thread: Thread | undefined

  constructor(request: Evaluate) {
    this.request = request
    this.globals = JSON.stringify(request.globals)
    this.functions = JSON.stringify(request.functions)
  }

  get outcome(): Promise<Outcome> {
    return this.#end.promise
  }

  /** Without effect after the first call. */
  end(outcome: Outcome): void {
    this.#end.resolve(outcome)
  }
}

/** A program that a thread executes. */
interface Executed {
  readonly program: Program
  readonly watchdog: Watchdog
  /** Ends the functions that the program calls. */
  readonly calls: AbortController
  isStopped: boolean
  force?: NodeJS.Timeout
}

type Result = Exclude<FromThread, { kind: 'ready' | 'call' }>

/** What a thread reports to the engine. */
interface ThreadEvents {
  /** Its program has ended. */
  idle(thread: Thread): void
  died(thread: Thread): void
}

/** A thread of QuickJS, which executes one program at a time. */
export class Thread {
  readonly #flags = new Int32Array(new SharedArrayBuffer(8))
  readonly #port: MessagePort
  readonly #worker: Worker
  readonly #limits: ExpressionLimits
  readonly #events: ThreadEvents
  #executed: Executed | undefined
  isLoading = true
  dead = false

  constructor(limits: ExpressionLimits, events: ThreadEvents) {
    this.#limits = limits
    this.#events = events
    const { port1, port2 } = new MessageChannel()
    this.#port = port1
    this.#worker = new Worker(new URL('thread.ts', import.meta.url), {
      workerData: { flags: this.#flags, port: port2, limits },
      transferList: [port2],
      stderr: false,
      env: threadEnv(),
      resourceLimits: { maxOldGenerationSizeMb: 64 + Math.ceil(limits.memoryBytes / (1 << 20)) },
    })
    this.#worker.on('message', (message: FromThread) => {
      if (message.kind === 'ready') this.#ready()
      else if (message.kind === 'call') void this.#answer(message.name, message.args)
      else this.#ended(message)
    })
    this.#worker.on('error', (error) => this.#died(`the expression's engine failed: ${messageOf(error)}`))
    this.#worker.on('exit', () => this.#died('the expression was stopped'))
    this.#ref(false)
  }

  /** Requires that it executes no program. */
  execute(program: Program): void {
    const watchdog = new Watchdog(this.#limits.timeMs + INTERRUPT_GRACE_MS, () => {
      program.end({
        kind: 'error',
        message: `the expression took longer than ${this.#limits.timeMs / 1000}s`,
      })
      void this.end()
    })
    this.#executed = { program, watchdog, calls: new AbortController(), isStopped: false }
    program.thread = this
    Atomics.store(this.#flags, STOP, 0)
    const { request, globals, functions } = program
    this.#send({ kind: 'job', code: request.code, globals, functions })
    this.#ref(true)
    if (!this.isLoading) watchdog.go()
  }

  /** Stops the program. */
  stop(): void {
    const executed = this.#executed
    if (executed === undefined) return
    executed.isStopped = true
    executed.calls.abort()
    Atomics.store(this.#flags, STOP, 1)
    this.#wake()
    executed.force ??= setTimeout(() => void this.end(), STOP_GRACE_MS)
  }

  #ready(): void {
    this.isLoading = false
    this.#executed?.watchdog.go()
  }

  #ended(message: Result): void {
    this.#settle(message)
    this.#ref(false)
    this.#events.idle(this)
  }

  #settle(message: Result): void {
    if (this.#executed === undefined) return
    const { program, watchdog, calls, isStopped, force } = this.#executed
    this.#executed = undefined
    watchdog.end()
    clearTimeout(force)
    // Without a reason, an exception with its stack is made.
    calls.abort('the program has ended')
    if (isStopped) program.end({ kind: 'cancelled' })
    else if (message.kind === 'error') program.end(message)
    else program.end({ kind: 'value', value: JSON.parse(message.json) as Json })
  }

  #died(reason: string): void {
    this.dead = true
    this.#settle({ kind: 'error', message: reason })
    this.#events.died(this)
  }

  /** A thread without a program does not keep the process alive. */
  #ref(on: boolean): void {
    if (on) return this.#worker.ref()
    this.#worker.unref()
    this.#port.unref()
  }

  async #answer(name: string, args: string): Promise<void> {
    const caller = this.#executed
    if (caller === undefined) return
    const { program, watchdog } = caller
    const { signal } = caller.calls
    watchdog.pause()
    let answer: Answer
    try {
      const value = await program.request.host(name, JSON.parse(args) as Json[], signal)
      const json = JSON.stringify(value ?? null)
      if (json.length > this.#limits.resultChars)
        throw new Error(`the result of ${name} has more than ${this.#limits.resultChars} characters as JSON`)
      answer = { kind: 'value', json }
    } catch (error) {
      if (error instanceof StopProgram) this.stop()
      answer = { kind: 'error', message: messageOf(error) }
    }
    watchdog.go()
    if (!signal.aborted) this.#send(answer)
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
