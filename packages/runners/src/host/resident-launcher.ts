import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { getSystemErrorMessage, getSystemErrorName } from 'node:util'
import type { Launched, Launcher, LaunchRequest, ProcessEnd, User } from './launcher.ts'
import { killAllOf, purgeUser } from './purge.ts'
import type { SpawnerProgram } from './spawner-program.ts'
import { forgetMessage, holdsNul, launchMessage, purgeMessage, ReplyReader } from './spawner-protocol.ts'

/** Most attempts whose end is kept back until there is something else to say: each message wakes the small process. */
const MOST_KEPT_BACK = 32

/** Of a purge that did not end with code 0. */
const UNSENT = 1

interface Pending {
  readonly request: LaunchRequest
  readonly launched: (launched: Launched) => void
  readonly ended: PromiseWithResolvers<ProcessEnd>
}

const SIGNAL_NAMES = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]))

/**
 * Starts processes through a small resident process, so that the rate does not depend on this program's memory and a
 * SIGKILL of this program ends its commands. When the small process dies its commands are `lost` and the next launch
 * starts a new one.
 */
export class ResidentLauncher implements Launcher {
  readonly #programs: SpawnerProgram[]
  readonly #pipeFolder: string
  readonly #pending = new Map<number, Pending>()
  readonly #purges = new Map<number, (code: number) => void>()
  readonly #over: Buffer[] = []
  #spawner: ChildProcess | undefined
  #isReady = false
  #lastId = 0
  #closed = false

  /** `programs`: best first, at least one. */
  constructor(programs: readonly SpawnerProgram[], pipeFolder: string) {
    this.#programs = [...programs]
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
    if (holdsNul(request)) return Promise.resolve(failure(constants.errno.EINVAL))
    const { promise, resolve: launched } = Promise.withResolvers<Launched>()
    const id = ++this.#lastId
    this.#pending.set(id, { request, launched, ended: Promise.withResolvers<ProcessEnd>() })
    this.warmUp()
    this.#send(...this.#over.splice(0), launchMessage(id, request))
    return promise
  }

  forget(marker: string): void {
    this.#over.push(forgetMessage(marker))
    if (this.#over.length >= MOST_KEPT_BACK) this.#send(...this.#over.splice(0))
  }

  async purge(user: User): Promise<void> {
    await purgeUser(user, async () => await this.#purgeOnce(user))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    const spawner = this.#spawner
    if (spawner === undefined) return
    const exited = once(spawner, 'exit')
    spawner.stdin?.end()
    await exited
  }

  async #purgeOnce(user: User): Promise<boolean> {
    if (this.#spawner === undefined || !this.#isReady) return await killAllOf(user)
    const id = ++this.#lastId
    const ended = Promise.withResolvers<number>()
    this.#purges.set(id, ended.resolve)
    this.#send(purgeMessage(id, user))
    return (await ended.promise) === 0 || (await killAllOf(user))
  }

  #start(): ChildProcess {
    const { command = '', args = [], env } = this.#programs[0] ?? {}
    const replies = new ReplyReader()
    const spawner = spawn(command, [...args, this.#pipeFolder], {
      env: { ...env },
      cwd: '/',
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    // A failure to write means that the process is ending, which is reported by its end.
    spawner.stdin.on('error', () => {})
    spawner.stdout.on('data', (chunk: Buffer) => {
      for (const words of replies.read(chunk)) this.#receive(words)
    })
    spawner.once('error', (error) => this.#gone(spawner, error.message))
    spawner.once('exit', (code, signal) => {
      const tell = (): void => this.#gone(spawner, `it ended with ${signal ?? `code ${code}`}`)
      // Its word that it is ready, and with it that it may have started something, may not be read yet.
      if (this.#isReady) tell()
      else spawner.once('close', tell)
    })
    return spawner
  }

  #send(...messages: Buffer[]): void {
    this.#spawner?.stdin?.write(messages.length === 1 ? messages[0] : Buffer.concat(messages))
  }

  #receive([what, id, first, second]: readonly string[]): void {
    if (what === 'ready') this.#isReady = true
    this.#purges.get(Number(id))?.(what === 'ended' ? Number(first) + Number(second) : UNSENT)
    this.#purges.delete(Number(id))
    const pending = this.#pending.get(Number(id))
    if (pending === undefined) return
    if (what === 'started') {
      const { promise: ended } = pending.ended
      return pending.launched({ kind: 'started', pid: Number(first), ended })
    }
    this.#pending.delete(Number(id))
    if (what === 'failed') pending.launched(failure(Number(first)))
    else pending.ended.resolve(endOf(Number(first), Number(second)))
  }

  #gone(spawner: ChildProcess, why: string): void {
    if (this.#spawner !== spawner) return
    this.#spawner = undefined
    if (!this.#isReady && this.#programs.length > 1) return this.#startNext()
    this.#isReady = false
    for (const resolve of this.#purges.values()) resolve(UNSENT)
    this.#purges.clear()
    const reason = `the process that starts commands is gone: ${why}`
    for (const { launched, ended } of this.#pending.values()) {
      launched({ kind: 'lost', reason })
      ended.resolve({ kind: 'lost', reason })
    }
    this.#pending.clear()
  }

  /** The program does not work on this system and has started nothing: the next one does it all. */
  #startNext(): void {
    this.#programs.shift()
    this.warmUp()
    for (const [id, { request }] of this.#pending) this.#send(launchMessage(id, request))
  }
}

const endOf = (code: number, signal: number): ProcessEnd =>
  signal === 0
    ? { kind: 'exited', code }
    : { kind: 'signalled', signal: SIGNAL_NAMES.get(signal) ?? `signal ${signal}` }

const failure = (errno: number): Launched => ({
  kind: 'failed',
  code: getSystemErrorName(-errno),
  message: getSystemErrorMessage(-errno),
})
