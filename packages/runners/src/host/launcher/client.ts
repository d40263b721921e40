import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { getSystemErrorMessage, getSystemErrorName } from 'node:util'
import type { LauncherProgram } from './programs.ts'
import {
  forgetMessage,
  holdsNul,
  killUserMessage,
  launchMessage,
  ReplyReader,
  type LaunchRequest,
  type User,
} from './protocol.ts'

/** Most `forget` messages that are held back until the next request: each message wakes the launcher. */
const MOST_HELD_BACK = 32

/** Result of a `kill-user` request that failed. */
const FAILED = 1

export type ProcessEnd =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'signalled'; readonly signal: string }
  | { readonly kind: 'lost'; readonly reason: string }

export type Launched =
  | { readonly kind: 'started'; readonly pid: number; readonly ended: Promise<ProcessEnd> }
  /** `code`: the system's error code, like `ENOENT`. */
  | { readonly kind: 'failed'; readonly code: string; readonly message: string }
  /** It is unknown whether the process started. */
  | { readonly kind: 'lost'; readonly reason: string }

/** A process of the user can kill the one that kills it, but hardly so often. */
const MOST_TRIES = 100

interface Pending {
  readonly request: LaunchRequest
  readonly launched: (launched: Launched) => void
  readonly ended: PromiseWithResolvers<ProcessEnd>
}

const SIGNAL_NAMES = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]))

/**
 * Starts processes through the launcher, a small resident process: the rate of starts does not depend on this program's
 * memory, and a SIGKILL of this program ends its commands. Each process leads its own session and reads an empty stdin.
 * If the launcher dies, its commands are `lost` and the next command starts another one.
 */
export class LauncherClient implements AsyncDisposable {
  readonly #programs: LauncherProgram[]
  readonly #pipeFolder: string
  readonly #pending = new Map<number, Pending>()
  readonly #killing = new Map<number, (code: number) => void>()
  readonly #heldBack: Buffer[] = []
  #launcher: ChildProcess | undefined
  #isReady = false
  #lastId = 0
  #closed = false

  /** `programs`: at least one, in order of preference. */
  constructor(programs: readonly LauncherProgram[], pipeFolder: string) {
    this.#programs = [...programs]
    this.#pipeFolder = pipeFolder
  }

  /** Pid of the launcher while it runs. */
  get pid(): number | undefined {
    return this.#launcher?.pid
  }

  /** Starts the launcher unless it runs; called early, it saves the first command the wait. */
  start(): void {
    this.#launcher ??= this.#spawn()
  }

  launch(request: LaunchRequest): Promise<Launched> {
    if (this.#closed) return Promise.resolve({ kind: 'lost', reason: 'the runner has been closed' })
    if (holdsNul(request)) return Promise.resolve(failure(constants.errno.EINVAL))
    const { promise, resolve: launched } = Promise.withResolvers<Launched>()
    const id = ++this.#lastId
    this.#pending.set(id, { request, launched, ended: Promise.withResolvers<ProcessEnd>() })
    this.start()
    this.#send(...this.#heldBack.splice(0), launchMessage(id, request))
    return promise
  }

  /** The attempt has ended: none of its processes needs to be killed any more. */
  forget(marker: string): void {
    this.#heldBack.push(forgetMessage(marker))
    if (this.#heldBack.length >= MOST_HELD_BACK) this.#send(...this.#heldBack.splice(0))
  }

  /** Kills every process of a user that only commands run as. Rejects if some may be left. */
  async killUser(user: User): Promise<void> {
    for (let tries = 0; tries < MOST_TRIES; tries += 1) if (await this.#tryKillUser(user)) return
    throw new Error(`the processes of user ${user.uid} could not be killed in ${MOST_TRIES} tries`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    const launcher = this.#launcher
    if (launcher === undefined) return
    const exited = once(launcher, 'exit')
    launcher.stdin?.end()
    await exited
  }

  async #tryKillUser(user: User): Promise<boolean> {
    if (this.#launcher === undefined || !this.#isReady) return await killAsUser(user)
    const id = ++this.#lastId
    const ended = Promise.withResolvers<number>()
    this.#killing.set(id, ended.resolve)
    this.#send(killUserMessage(id, user))
    return (await ended.promise) === 0 || (await killAsUser(user))
  }

  #spawn(): ChildProcess {
    const { command = '', args = [], env } = this.#programs[0] ?? {}
    const replies = new ReplyReader()
    const launcher = spawn(command, [...args, this.#pipeFolder], {
      env: { ...env },
      cwd: '/',
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    // A failed write means that the launcher is exiting, which `exit` reports.
    launcher.stdin.on('error', () => {})
    launcher.stdout.on('data', (chunk: Buffer) => {
      for (const reply of replies.read(chunk)) this.#receive(reply)
    })
    launcher.once('error', (error) => this.#onExit(launcher, error.message))
    launcher.once('exit', (code, signal) => {
      const report = (): void => this.#onExit(launcher, signal ?? `code ${code}`)
      // Its `ready`, after which it may have started commands, may not be read yet.
      if (this.#isReady) report()
      else launcher.once('close', report)
    })
    return launcher
  }

  #send(...messages: Buffer[]): void {
    this.#launcher?.stdin?.write(messages.length === 1 ? messages[0] : Buffer.concat(messages))
  }

  #receive([kind, id, first, second]: readonly string[]): void {
    if (kind === 'ready') this.#isReady = true
    this.#killing.get(Number(id))?.(kind === 'ended' ? Number(first) + Number(second) : FAILED)
    this.#killing.delete(Number(id))
    const pending = this.#pending.get(Number(id))
    if (pending === undefined) return
    if (kind === 'started') {
      const { promise: ended } = pending.ended
      return pending.launched({ kind: 'started', pid: Number(first), ended })
    }
    this.#pending.delete(Number(id))
    if (kind === 'failed') pending.launched(failure(Number(first)))
    else pending.ended.resolve(endOf(Number(first), Number(second)))
  }

  #onExit(launcher: ChildProcess, why: string): void {
    if (this.#launcher !== launcher) return
    this.#launcher = undefined
    if (!this.#isReady && this.#programs.length > 1) return this.#startNext()
    this.#isReady = false
    for (const resolve of this.#killing.values()) resolve(FAILED)
    this.#killing.clear()
    const reason = `the launcher has ended: ${why}`
    for (const { launched, ended } of this.#pending.values()) {
      launched({ kind: 'lost', reason })
      ended.resolve({ kind: 'lost', reason })
    }
    this.#pending.clear()
  }

  /** The program does not work on this system and has started nothing: the next one takes over. */
  #startNext(): void {
    this.#programs.shift()
    this.start()
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

/** `kill` fails if the user has no processes. */
const SCRIPT = 'kill -KILL -1; exit 0'

/**
 * Sends one signal to all processes of a user, from a process of that user: the kernel finds them all, including those
 * that are being forked, and none escapes by leaving its group, session or environment.
 */
const killAsUser = async ({ uid, gid }: User): Promise<boolean> => {
  const child = spawn('/bin/sh', ['-c', SCRIPT], { uid, gid, env: {}, cwd: '/', stdio: 'ignore' })
  const [code] = (await once(child, 'exit')) as [number | null]
  return code === 0
}
