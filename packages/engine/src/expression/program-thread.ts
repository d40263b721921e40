import { MessageChannel, Worker, type MessagePort } from 'node:worker_threads'
import { messageOf, type Json } from '@scanfarm/language'
import { StopProgram } from '@scanfarm/functions'
import {
  CELLS,
  SENT,
  STOP,
  type Answer,
  type ExpressionLimits,
  type FromThread,
  type Outcome,
  type ToThread,
} from './messages.ts'

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

/** Programs in a thread: one that it executes, and others that it begins next. */
export const PROGRAMS_AHEAD = 4
const ALL_CELLS = Array.from({ length: PROGRAMS_AHEAD }, (_, index) => CELLS + index)

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
  /** The thread that the program was sent to. */
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

/** A program in a thread. */
interface Sent {
  readonly program: Program
  readonly id: number
  readonly cell: number
  readonly watchdog: Watchdog
  /** Ends the functions that the program calls. */
  calls?: AbortController
  isStopped: boolean
  force?: NodeJS.Timeout
}

type Result = Exclude<FromThread, { kind: 'ready' | 'call' }>

/** What a thread tells the engine. */
interface ThreadEvents {
  /** A program has ended. */
  room(thread: Thread): void
  /** `left`: programs that it has not begun. */
  died(thread: Thread, left: readonly Program[]): void
}

/**
 * A thread of QuickJS. It executes its programs one after the other and begins the next without waiting for the main
 * thread: sleeping between them would take longer than most programs. A program that it has not begun can be taken back.
 */
export class Thread {
  readonly #flags = new Int32Array(new SharedArrayBuffer(4 * (CELLS + PROGRAMS_AHEAD)))
  readonly #port: MessagePort
  readonly #worker: Worker
  /** The first is the one that the thread executes. */
  readonly #sent: Sent[] = []
  readonly #limits: ExpressionLimits
  readonly #events: ThreadEvents
  #lastId = 0
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
      env: {},
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

  get count(): number {
    return this.#sent.length
  }

  /** Programs that the thread has probably not begun. */
  get queued(): readonly Program[] {
    return this.#sent.slice(this.isLoading ? 0 : 1).map(({ program }) => program)
  }

  /** Requires that it has fewer than `PROGRAMS_AHEAD` programs. */
  send(program: Program): void {
    const cell = ALL_CELLS.find((free) => !this.#sent.some((one) => one.cell === free)) ?? CELLS
    const id = (this.#lastId = (this.#lastId + 1) | 0 || 1)
    const watchdog = new Watchdog(this.#limits.timeMs + INTERRUPT_GRACE_MS, () => {
      program.end({
        kind: 'error',
        message: `the expression took longer than ${this.#limits.timeMs / 1000}s`,
      })
      void this.end()
    })
    this.#sent.push({ program, id, cell, watchdog, isStopped: false })
    program.thread = this
    Atomics.store(this.#flags, cell, id)
    const { request, globals, functions } = program
    this.#send({ kind: 'job', id, cell, code: request.code, globals, functions })
    if (this.#sent.length > 1) return
    this.#ref(true)
    this.#watch()
  }

  /** False if the thread has begun the program. */
  takeBack(program: Program): boolean {
    const index = this.#sent.findIndex((one) => one.program === program)
    const sent = this.#sent[index]
    if (sent === undefined || Atomics.compareExchange(this.#flags, sent.cell, sent.id, 0) !== sent.id)
      return false
    sent.watchdog.end()
    this.#sent.splice(index, 1)
    program.thread = undefined
    if (index === 0) this.#watch()
    return true
  }

  /** Stops a program that the thread has begun. */
  stop(program: Program): void {
    const sent = this.#sent.find((one) => one.program === program)
    if (sent === undefined) return
    sent.isStopped = true
    sent.calls?.abort()
    Atomics.store(this.#flags, STOP, sent.id)
    this.#wake()
    sent.force ??= setTimeout(() => void this.end(), STOP_GRACE_MS)
  }

  #ready(): void {
    if (!this.isLoading) return
    this.isLoading = false
    this.#watch()
  }

  /** Starts the watchdog of the program that the thread executes. Without programs the thread does not keep the process alive. */
  #watch(): void {
    const [first] = this.#sent
    if (first === undefined) this.#ref(false)
    else if (!this.isLoading) first.watchdog.go()
  }

  #ended(message: Result): void {
    const ended = this.#sent.shift()
    if (ended === undefined) return
    this.#watch()
    this.#settle(ended, message)
    this.#events.room(this)
  }

  #settle({ program, watchdog, calls, isStopped, force }: Sent, message: Result): void {
    watchdog.end()
    clearTimeout(force)
    calls?.abort()
    if (isStopped) program.end({ kind: 'cancelled' })
    else if (message.kind === 'error') program.end(message)
    else program.end({ kind: 'value', value: JSON.parse(message.json) as Json })
  }

  #died(reason: string): void {
    this.dead = true
    this.isLoading = false
    const left = this.#sent.map(({ program }) => program).filter((program) => this.takeBack(program))
    for (const sent of this.#sent.splice(0)) this.#settle(sent, { kind: 'error', message: reason })
    this.#events.died(this, left)
  }

  #ref(on: boolean): void {
    if (on) return this.#worker.ref()
    this.#worker.unref()
    this.#port.unref()
  }

  async #answer(name: string, args: string): Promise<void> {
    const [caller] = this.#sent
    if (caller === undefined) return
    const { program, id, watchdog } = caller
    const { signal } = (caller.calls ??= new AbortController())
    if (caller.isStopped) caller.calls.abort()
    watchdog.pause()
    let answer: Answer
    try {
      const value = await program.request.host(name, JSON.parse(args) as Json[], signal)
      const json = JSON.stringify(value ?? null)
      if (json.length > this.#limits.resultChars)
        throw new Error(`the result of ${name} has more than ${this.#limits.resultChars} characters as JSON`)
      answer = { kind: 'value', json }
    } catch (error) {
      if (error instanceof StopProgram) this.stop(program)
      answer = { kind: 'error', message: messageOf(error) }
    }
    watchdog.go()
    if (!signal.aborted) this.#send({ ...answer, id })
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
