import { parentPort, receiveMessageOnPort, workerData, type MessagePort } from 'node:worker_threads'
import baseVariant from '@jitl/quickjs-wasmfile-release-sync'
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  type QuickJSSyncVariant,
  type QuickJSWASMModule,
} from 'quickjs-emscripten-core'
import { ANSWERED, STOP, type Answer, type ExpressionLimits, type FromThread, type Job } from './messages.ts'

/**
 * Thread that evaluates expressions: one program at a time, each in a new QuickJS runtime. Function calls are sent to
 * the main thread. The thread sleeps until the reply arrives, so that calls are synchronous for the program.
 */

interface ThreadData {
  readonly flags: Int32Array
  readonly port: MessagePort
  readonly memoryBytes: number
}

const isData = (value: unknown): value is ThreadData =>
  typeof value === 'object' && value !== null && 'flags' in value && 'port' in value

const isAnswer = (value: unknown): value is Answer =>
  typeof value === 'object' && value !== null && 'kind' in value

class Stopped extends Error {}

/** A QuickJS runtime for one program, prepared in advance while the thread is idle. */
interface Machine {
  readonly runtime: QuickJSRuntime
  readonly context: QuickJSContext
  /** Converts a result to JSON. Created before the program runs, so that the program cannot change it. */
  readonly stringify: QuickJSHandle
}

const STRINGIFY = `((stringify) => (value) => {
  if (value === undefined) return 'null'
  if (typeof value === 'function') return stringify(String(value))
  return stringify(value, (key, inner) =>
    typeof inner === 'bigint' ? String(inner) : inner === Infinity || inner !== inner ? null : inner)
})(JSON.stringify)`

const makeMachine = (quickjs: QuickJSWASMModule, limits: ExpressionLimits): Machine => {
  const runtime = quickjs.newRuntime()
  runtime.setMemoryLimit(limits.memoryBytes)
  runtime.setMaxStackSize(limits.stackBytes)
  const context = runtime.newContext()
  return { runtime, context, stringify: context.unwrapResult(context.evalCode(STRINGIFY)) }
}

const serve = (quickjs: QuickJSWASMModule): void => {
  if (!isData(workerData) || parentPort === null) throw new Error('this file must run in a worker thread')
  const { flags, port } = workerData
  const main = parentPort
  const tell = (message: FromThread) => main.postMessage(message)
  let spare: Machine | undefined
  main.on('message', (job: Job) => {
    const machine = spare ?? makeMachine(quickjs, job.limits)
    spare = undefined
    // Discard a late reply to a program that was stopped.
    while (receiveMessageOnPort(port) !== undefined);
    tell(new Evaluation(machine, job, flags, port, tell).run())
    spare = makeMachine(quickjs, job.limits)
  })
  tell({ kind: 'ready' })
}

class Evaluation {
  readonly #machine: Machine
  readonly #job: Job
  readonly #flags: Int32Array
  readonly #port: MessagePort
  readonly #tell: (message: FromThread) => void
  #deadline: number
  #late = false

  constructor(
    machine: Machine,
    job: Job,
    flags: Int32Array,
    port: MessagePort,
    tell: (message: FromThread) => void,
  ) {
    this.#machine = machine
    this.#job = job
    this.#flags = flags
    this.#port = port
    this.#tell = tell
    this.#deadline = performance.now() + job.limits.timeMs
  }

  run(): FromThread {
    const { runtime, context, stringify } = this.#machine
    runtime.setInterruptHandler(() => {
      this.#late ||= performance.now() > this.#deadline
      return this.#late || Atomics.load(this.#flags, STOP) === 1
    })
    try {
      return this.#evaluate(context, stringify)
    } catch (error) {
      return { kind: 'error', message: error instanceof Error ? error.message : String(error) }
    } finally {
      stringify.dispose()
      context.dispose()
      runtime.dispose()
    }
  }

  #evaluate(context: QuickJSContext, stringify: QuickJSHandle): FromThread {
    this.#prelude(context)
    const result = context.evalCode(this.#job.code, 'expression')
    if (result.error !== undefined) return this.#failure(context, result.error)
    const text = context.callFunction(stringify, context.undefined, result.value)
    result.value.dispose()
    if (text.error !== undefined) return this.#failure(context, text.error)
    const json = context.getString(text.value)
    text.value.dispose()
    if (json.length > this.#job.limits.resultChars)
      return { kind: 'error', message: 'the result is too large' }
    return { kind: 'value', json: json === 'undefined' ? 'null' : json }
  }

  #prelude(context: QuickJSContext): void {
    const call = context.newFunction('call', (name, args) => {
      const answer = this.#ask(context.getString(name), context.getString(args))
      return context.newString(answer)
    })
    const names = context.newString(JSON.stringify(this.#job.functions))
    const globals = context.newString(this.#job.globals)
    const setUp = context.unwrapResult(context.evalCode(PRELUDE))
    context.unwrapResult(context.callFunction(setUp, context.undefined, call, names, globals)).dispose()
    for (const handle of [call, names, globals, setUp]) handle.dispose()
  }

  /** Sleeps until the main thread replies. That time does not count towards the limit of the program. */
  #ask(name: string, args: string): string {
    const from = performance.now()
    Atomics.store(this.#flags, ANSWERED, 0)
    this.#tell({ kind: 'call', name, args })
    for (;;) {
      const received = receiveMessageOnPort(this.#port)
      const answer: unknown = received?.message
      if (isAnswer(answer)) {
        this.#deadline += performance.now() - from
        if (answer.kind === 'value') return answer.json
        throw answer.kind === 'error' ? new Error(answer.message) : new Stopped('stopped')
      }
      Atomics.wait(this.#flags, ANSWERED, 0)
      if (Atomics.load(this.#flags, STOP) === 1) throw new Stopped('stopped')
    }
  }

  #failure(context: QuickJSContext, error: QuickJSHandle): FromThread {
    const dumped: unknown = context.dump(error)
    error.dispose()
    if (this.#late) {
      return { kind: 'error', message: `the expression took longer than ${this.#job.limits.timeMs / 1000}s` }
    }
    if (typeof dumped !== 'object' || dumped === null) return { kind: 'error', message: String(dumped) }
    const { name, message } = { name: 'Error', message: '', ...dumped }
    return {
      kind: 'error',
      message: name === 'Error' ? String(message) : `${String(name)}: ${String(message)}`,
    }
  }
}

const PRELUDE = `((call, names, globals) => {
  const { parse, stringify } = JSON
  const define = (name, value) => Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false })
  const values = parse(globals)
  for (const name in values) define(name, values[name])
  for (const name of parse(names)) define(name, (...args) => parse(call(name, stringify(args))))
  const print = (...args) => { call('console', stringify(args)) }
  define('console', { log: print, info: print, warn: print, error: print, debug: print })
})`

/** Missing in the types of Node. */
declare const WebAssembly: {
  readonly Memory: new (size: { readonly initial: number; readonly maximum: number }) => object
}

const PAGE_BYTES = 64 << 10
const OWN_BYTES = 16 << 20

/**
 * QuickJS counts only a part of the memory of each allocation, so that many large texts exceed its limit unnoticed. The
 * memory of the WebAssembly module is therefore bounded as well.
 */
const boundedMemory = (bytes: number): object =>
  new WebAssembly.Memory({
    initial: OWN_BYTES / PAGE_BYTES,
    maximum: Math.ceil((OWN_BYTES + bytes) / PAGE_BYTES),
  })

const memoryBytes = isData(workerData) ? workerData.memoryBytes : 0
// The package declares the types of its CommonJS form.
const unbounded: QuickJSSyncVariant = 'default' in baseVariant ? baseVariant.default : baseVariant
const variant = newVariant(unbounded, { wasmMemory: boundedMemory(memoryBytes) })
serve(await newQuickJSWASMModuleFromVariant(variant))
