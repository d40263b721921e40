import { parentPort, receiveMessageOnPort, workerData, type MessagePort } from 'node:worker_threads'
import baseVariant from '@jitl/quickjs-wasmfile-release-sync'
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSSyncVariant,
  type QuickJSWASMModule,
} from 'quickjs-emscripten-core'
import {
  SENT,
  STOP,
  type Answer,
  type ExpressionLimits,
  type FromThread,
  type Job,
  type ToThread,
} from './messages.ts'

/**
 * Thread that evaluates expressions, one program at a time. Function calls are sent to the main thread. The thread
 * sleeps until the reply arrives, so that calls are synchronous for the program.
 */

interface ThreadData {
  readonly flags: Int32Array
  readonly port: MessagePort
  readonly limits: ExpressionLimits
}

const isData = (value: unknown): value is ThreadData =>
  typeof value === 'object' && value !== null && 'flags' in value && 'port' in value

const post = (message: FromThread): void => parentPort?.postMessage(message)

/** Messages of the main thread. The thread sleeps until one arrives. */
class Inbox {
  readonly #flags: Int32Array
  readonly #port: MessagePort

  constructor({ flags, port }: ThreadData) {
    this.#flags = flags
    this.#port = port
  }

  get isStopped(): boolean {
    return Atomics.load(this.#flags, STOP) === 1
  }

  job(): Job {
    for (;;) {
      const message = this.#next(() => undefined)
      // Anything else is the reply to a program that was stopped before it arrived.
      if (message.kind === 'job') return message
    }
  }

  /** Throws if the program was stopped. */
  answer(): Answer {
    const message = this.#next(() => {
      if (this.isStopped) throw new Error('stopped')
    })
    if (message.kind === 'job') throw new Error('a program was sent to a thread that executes another')
    return message
  }

  #next(check: () => void): ToThread {
    for (;;) {
      Atomics.store(this.#flags, SENT, 0)
      check()
      const received = receiveMessageOnPort(this.#port) as { readonly message: ToThread } | undefined
      if (received !== undefined) return received.message
      Atomics.wait(this.#flags, SENT, 0)
    }
  }
}

const STRINGIFY = `((stringify) => (value) => {
  if (value === undefined) return 'null'
  if (typeof value === 'function') return stringify(String(value))
  return stringify(value, (key, inner) =>
    typeof inner === 'bigint' ? String(inner) : inner === Infinity || inner !== inner ? null : inner)
})(JSON.stringify)`

/** The text of a thrown value. Cut here, because copies of it would leave the memory limit of the program. */
const DESCRIBE = `((String, slice) => (thrown, most) => {
  const cut = (value) => {
    const text = String(value)
    return text.length <= most ? text : slice(text, 0, most - 1) + '…'
  }
  if (thrown === null || (typeof thrown !== 'object' && typeof thrown !== 'function')) return cut(thrown)
  const { name = 'Error', message = '' } = thrown
  return name === 'Error' ? cut(message) : cut(cut(name) + ': ' + cut(message))
})(String, Function.prototype.call.bind(String.prototype.slice))`

const PRELUDE = `((call, random) => {
  const { parse, stringify } = JSON
  const define = (name, value, owner = globalThis) =>
    Object.defineProperty(owner, name, { value, writable: true, configurable: true, enumerable: false })
  define('random', () => random(), Math)
  const isNamed = (bool, text) => typeof bool === 'boolean' && (text === 'true' || text === 'false')
  define('$is', (value) => (value === 'false' ? false : value))
  define('$equals', (a, b) => (isNamed(a, b) || isNamed(b, a) ? String(a) === String(b) : a == b))
  const print = (...args) => { call('console', stringify(args)) }
  define('console', { log: print, info: print, warn: print, error: print, debug: print })
  return (names, globals) => {
    const values = parse(globals)
    for (const name in values) if (name !== 'console') define(name, values[name])
    for (const name of parse(names)) define(name, (...args) => parse(call(name, stringify(args))))
  }
})`

const ERROR_BYTES = 1 << 20
/** The thrown value cannot be converted to text: its `toString` fails or needs too much memory. */
const UNKNOWN_ERROR = 'the expression failed, and its error has no text'

const PAGE_BYTES = 16 << 10
/** Longer parts without content are the stack, which is empty between programs, and free memory. */
const GAP_BYTES = 1 << 20

interface Part {
  readonly from: number
  readonly to: number
}

/** The parts of the memory that have content. */
const usedParts = (memory: Buffer): Part[] => {
  const parts: Part[] = []
  const empty = Buffer.alloc(PAGE_BYTES)
  for (let from = 0; from < memory.length; from += PAGE_BYTES) {
    const to = from + PAGE_BYTES
    if (memory.subarray(from, to).equals(empty)) continue
    const last = parts.at(-1)
    if (last === undefined || from - last.to >= GAP_BYTES) parts.push({ from, to })
    else parts[parts.length - 1] = { from: last.from, to }
  }
  return parts
}

/**
 * A QuickJS runtime that runs one program after the other. All its state is in the memory of the WebAssembly module:
 * after each program, the memory becomes what it was before the first one. This takes a hundredth of the time of a new
 * runtime.
 */
class Machine {
  readonly #inbox: Inbox
  readonly #limits: ExpressionLimits
  readonly #memory: WasmMemory
  readonly #context: QuickJSContext
  /** Defines the variables and functions of a program. */
  readonly #setUp: QuickJSHandle
  /** Converts a result to JSON. Created before any program, so that programs cannot change it. */
  readonly #stringify: QuickJSHandle
  readonly #describe: QuickJSHandle
  readonly #initial: readonly { readonly from: number; readonly bytes: Uint8Array }[]
  #deadline = Infinity
  #late = false

  constructor(quickjs: QuickJSWASMModule, memory: WasmMemory, limits: ExpressionLimits, inbox: Inbox) {
    this.#memory = memory
    this.#limits = limits
    this.#inbox = inbox
    const runtime = quickjs.newRuntime()
    runtime.setMemoryLimit(limits.memoryBytes)
    runtime.setMaxStackSize(limits.stackBytes)
    runtime.setInterruptHandler(() => {
      this.#late ||= performance.now() > this.#deadline
      return this.#late || inbox.isStopped
    })
    const context = runtime.newContext()
    this.#context = context
    const call = context.newFunction('call', (name, args) =>
      context.newString(this.#ask(context.getString(name), context.getString(args))),
    )
    // The generator of QuickJS is part of the memory, so its numbers would be the same in each program.
    const random = context.newFunction('random', () => context.newNumber(Math.random()))
    const prelude = context.unwrapResult(context.evalCode(PRELUDE))
    this.#setUp = context.unwrapResult(context.callFunction(prelude, context.undefined, call, random))
    this.#stringify = context.unwrapResult(context.evalCode(STRINGIFY))
    this.#describe = context.unwrapResult(context.evalCode(DESCRIBE))
    const bytes = Buffer.from(memory.buffer)
    this.#initial = usedParts(bytes).map(({ from, to }) => ({
      from,
      bytes: Uint8Array.from(bytes.subarray(from, to)),
    }))
  }

  /** Throws if the module failed; it is unusable then. */
  run(job: Job): FromThread {
    this.#deadline = performance.now() + this.#limits.timeMs
    this.#late = false
    const result = this.#evaluate(job)
    // The buffer is another one if the memory has grown.
    const memory = new Uint8Array(this.#memory.buffer)
    for (const { from, bytes } of this.#initial) memory.set(bytes, from)
    return result
  }

  /** Frees no handles: their memory is reset. */
  #evaluate({ code, globals, functions }: Job): FromThread {
    const context = this.#context
    const [names, values] = [context.newString(functions), context.newString(globals)]
    const ready = context.callFunction(this.#setUp, context.undefined, names, values)
    if (ready.error !== undefined) return this.#failure(ready.error)
    const result = context.evalCode(code, 'expression')
    if (result.error !== undefined) return this.#failure(result.error)
    const text = context.callFunction(this.#stringify, context.undefined, result.value)
    if (text.error !== undefined) return this.#failure(text.error)
    const json = context.getString(text.value)
    if (json.length > this.#limits.resultChars) return { kind: 'error', message: 'the result is too large' }
    return { kind: 'value', json: json === 'undefined' ? 'null' : json }
  }

  /** Sleeps until the main thread replies. That time does not count towards the limit of the program. */
  #ask(name: string, args: string): string {
    const { resultChars } = this.#limits
    if (args.length > resultChars)
      throw new Error(`the arguments of ${name} have more than ${resultChars} characters as JSON`)
    const from = performance.now()
    post({ kind: 'call', name, args })
    const answer = this.#inbox.answer()
    this.#deadline += performance.now() - from
    if (answer.kind === 'value') return answer.json
    throw new Error(answer.message)
  }

  #failure(error: QuickJSHandle): FromThread {
    const context = this.#context
    // A program that has used up its memory needs some for its error. The limit is part of the memory that is reset.
    context.runtime.setMemoryLimit(this.#limits.memoryBytes + ERROR_BYTES)
    const most = context.newNumber(this.#limits.messageChars)
    const text = context.callFunction(this.#describe, context.undefined, error, most)
    if (this.#late)
      return { kind: 'error', message: `the expression took longer than ${this.#limits.timeMs / 1000}s` }
    const message = text.error === undefined ? context.getString(text.value) : UNKNOWN_ERROR
    return { kind: 'error', message }
  }
}

/** Missing in the types of Node. */
interface WasmMemory {
  readonly buffer: ArrayBuffer
}

declare const WebAssembly: {
  readonly Memory: new (size: { readonly initial: number; readonly maximum: number }) => WasmMemory
}

const WASM_PAGE_BYTES = 64 << 10
const OWN_BYTES = 16 << 20

/**
 * QuickJS counts only a part of the memory of each allocation, so that many large texts exceed its limit unnoticed. The
 * memory of the WebAssembly module is therefore bounded as well.
 */
const boundedMemory = (bytes: number): WasmMemory =>
  new WebAssembly.Memory({
    initial: OWN_BYTES / WASM_PAGE_BYTES,
    maximum: Math.ceil((OWN_BYTES + bytes) / WASM_PAGE_BYTES),
  })

if (!isData(workerData)) throw new Error('this file must run in a worker thread')
const { limits } = workerData
const wasmMemory = boundedMemory(limits.memoryBytes)
// The package declares the types of its CommonJS form.
const unbounded: QuickJSSyncVariant = 'default' in baseVariant ? baseVariant.default : baseVariant
const quickjs = await newQuickJSWASMModuleFromVariant(newVariant(unbounded, { wasmMemory }))
const inbox = new Inbox(workerData)
const machine = new Machine(quickjs, wasmMemory, limits, inbox)
post({ kind: 'ready' })
for (;;) post(machine.run(inbox.job()))
