import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { getCompileCacheDir } from 'node:module'
import { fileURLToPath } from 'node:url'
import { endOf, type Launched, type Launcher, type LaunchRequest, type ProcessEnd } from './launcher.ts'
import type { SpawnerReply, SpawnerRequest } from './spawner-protocol.ts'

const PROGRAM = fileURLToPath(new URL('./spawner.ts', import.meta.url))
/** Fewer threads and a small young heap: less memory to copy for each command. */
const NODE_FLAGS = ['--single-threaded', '--max-semi-space-size=1', '--disable-warning=ExperimentalWarning']

/** Most attempts whose end is kept back until there is something else to say: a message costs as much as a launch. */
const MOST_KEPT_BACK = 32

interface Pending {
  readonly launched: (launched: Launched) => void
  readonly ended: PromiseWithResolvers<ProcessEnd>
}

/**
 * Starts processes through a small resident process, so that the rate does not depend on this program's memory and a
 * SIGKILL of this program ends its commands. When the small process dies its commands are `lost` and the next launch
 * starts a new one.
 */
export class ResidentLauncher implements Launcher {
  readonly #pipeFolder: string
  readonly #pending = new Map<number, Pending>()
  #spawner: ChildProcess | undefined
  readonly #over: string[] = []
  #lastId = 0
  #closed = false

  constructor(pipeFolder: string) {
    this.#pipeFolder = pipeFolder
  }

  /** Pid of the small process, once there is one. */
  get spawnerPid(): number | undefined {
    return this.#spawner?.pid
  }

  /** Saves the first command the wait for the small process. */
  warmUp(): void {
    this.#spawner ??= this.#start()
  }

  launch(request: LaunchRequest): Promise<Launched> {
    if (this.#closed) return Promise.resolve({ kind: 'lost', reason: 'the runner has been closed' })
    const { promise, resolve: launched } = Promise.withResolvers<Launched>()
    const id = ++this.#lastId
    this.#pending.set(id, { launched, ended: Promise.withResolvers<ProcessEnd>() })
    this.warmUp()
    this.#send({ do: 'launch', id, forget: this.#over.splice(0), ...request })
    return promise
  }

  forget(marker: string): void {
    this.#over.push(marker)
    if (this.#over.length >= MOST_KEPT_BACK) this.#send({ do: 'forget', forget: this.#over.splice(0) })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    const spawner = this.#spawner
    if (spawner === undefined) return
    const exited = once(spawner, 'exit')
    spawner.disconnect()
    await exited
  }

  #start(): ChildProcess {
    const cache = getCompileCacheDir()
    const spawner = fork(PROGRAM, [this.#pipeFolder], {
      execPath: process.execPath,
      execArgv: NODE_FLAGS,
      env: cache === undefined ? {} : { NODE_COMPILE_CACHE: cache },
      detached: true,
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    spawner.on('message', (reply: SpawnerReply) => this.#receive(reply))
    spawner.once('error', (error) => this.#gone(spawner, error.message))
    spawner.once('exit', (code, signal) => this.#gone(spawner, `it ended with ${signal ?? `code ${code}`}`))
    return spawner
  }

  /** A failure to send means that the process is ending, which is reported by its end. */
  #send(request: SpawnerRequest): void {
    this.#spawner?.send(request, () => {})
  }

  #receive(reply: SpawnerReply): void {
    const pending = this.#pending.get(reply.id)
    if (pending === undefined) return
    if (reply.is === 'started')
      pending.launched({ kind: 'started', pid: reply.pid, ended: pending.ended.promise })
    else {
      this.#pending.delete(reply.id)
      if (reply.is === 'failed')
        pending.launched({ kind: 'failed', code: reply.code, message: reply.message })
      else pending.ended.resolve(endOf(reply.code, reply.signal))
    }
  }

  #gone(spawner: ChildProcess, why: string): void {
    if (this.#spawner === spawner) this.#spawner = undefined
    const reason = `the process that starts commands is gone: ${why}`
    for (const { launched, ended } of this.#pending.values()) {
      launched({ kind: 'lost', reason })
      ended.resolve({ kind: 'lost', reason })
    }
    this.#pending.clear()
  }
}
