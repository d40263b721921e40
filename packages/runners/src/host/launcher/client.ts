import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { getSystemErrorMessage, getSystemErrorName } from 'node:util'
import type { Outcome, Owner } from '@scanfarm/contracts'
import type { LauncherProgram } from './programs.ts'
import {
  forgetMessage,
  containsNul,
  killUserMessage,
  launchMessage,
  pipesMessage,
  ReplyReader,
  type LaunchRequest,
} from './protocol.ts'

/** Most `forget` messages that are deferred until the next request: each message wakes the launcher. */
const MOST_DEFERRED = 32

/** Result of a `kill-user` or `pipes` request that failed. */
const FAILED = 1

export type ProcessEnd = Extract<Outcome, { kind: 'exited' | 'signalled' | 'lost' }>

/** How the process ended, and whether it may have left others. */
export interface LaunchEnd {
  readonly end: ProcessEnd | StartFailure
  readonly mayHaveOrphans: boolean
}

/** The program could not be started. `code`: the system's error code, like `ENOENT`. */
export interface StartFailure {
  readonly kind: 'failed'
  readonly code: string
  readonly message: string
}

export type Launched =
  /** `ended` can still report that the program could not be started in the process. */
  | { readonly kind: 'started'; readonly pid: number; readonly ended: Promise<LaunchEnd> }
  | StartFailure
  /** It is unknown whether the process started. */
  | { readonly kind: 'lost'; readonly reason: string }

/** A process of the user can kill the one that kills it, but hardly so often. */
const MOST_TRIES = 100

/** The commands of one marker, or of one user. */
interface Commands {
  /** The launcher of its first command. */
  readonly launcher: ChildProcess | undefined
  running: number
  hasNoOrphans: boolean
  /** Something else has started processes of the user. */
  hasOthers: boolean
}

interface Pending {
  readonly request: LaunchRequest
  /** Those of its marker and of its user. */
  readonly peers: readonly Commands[]
  readonly launched: (launched: Launched) => void
  readonly ended: PromiseWithResolvers<LaunchEnd>
}

/** The first of several names for a number is the usual one: SIGABRT, not SIGIOT. */
const SIGNAL_NAMES = new Map(
  Object.entries(constants.signals)
    .toReversed()
    .map(([name, number]) => [number, name]),
)

/**
 * Starts processes through the launcher, a small resident process: the rate of starts does not depend on this program's
 * memory, and a SIGKILL of this program ends its commands. Each process leads its own session and reads an empty stdin.
 * If the launcher dies, its commands are `lost` and the next command starts another one.
 */
export class LauncherClient implements AsyncDisposable {
  readonly #programs: LauncherProgram[]
  readonly #pipeFolder: string
  readonly #pending = new Map<number, Pending>()
  readonly #attempts = new Map<string, Commands>()
  /** The commands of each uid since its processes were last known to be dead. */
  readonly #users = new Map<number, Commands>()
  /** Requests without a process, by id. */
  readonly #asked = new Map<number, (code: number) => void>()
  readonly #deferred: Buffer[] = []
  readonly #unsent: Buffer[] = []
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
    if (containsNul(request)) return Promise.resolve(failure(constants.errno.EINVAL))
    const { promise, resolve: launched } = Promise.withResolvers<Launched>()
    const id = ++this.#lastId
    this.start()
    const peers = [this.#commandsOf(this.#attempts, request.marker)]
    if (request.uid !== undefined) peers.push(this.#commandsOf(this.#users, request.uid))
    for (const commands of peers) commands.running += 1
    this.#pending.set(id, { request, peers, launched, ended: Promise.withResolvers() })
    this.#send(...this.#deferred.splice(0), launchMessage(id, request))
    return promise
  }

  /** Whether processes with the marker may exist. False means that none does. */
  mayHaveOrphans(marker: string): boolean {
    const attempt = this.#attempts.get(marker)
    return attempt !== undefined && (attempt.running > 0 || !attempt.hasNoOrphans)
  }

  /** The attempt has ended: none of its processes needs to be killed any more. */
  forget(marker: string): void {
    this.#attempts.delete(marker)
    this.#deferred.push(forgetMessage(marker))
    if (this.#deferred.length >= MOST_DEFERRED) this.#send(...this.#deferred.splice(0))
  }

  /** Processes of the user may exist that are not known here. */
  noteOthers({ uid }: Owner): void {
    this.#commandsOf(this.#users, uid).hasOthers = true
  }

  /**
   * Kills every process of a user that only commands run as. Rejects if some may be left. `areOurs`: all of them were
   * started or noted here, so that they are only killed if there may be any.
   */
  async killUser(user: Owner, areOurs: boolean): Promise<void> {
    const { running = 0, hasNoOrphans = true, hasOthers = false } = this.#users.get(user.uid) ?? {}
    if (!areOurs || running > 0 || !hasNoOrphans || hasOthers) await this.#killUser(user)
    this.#users.delete(user.uid)
  }

  /** Makes named pipes with mode 666. False: it cannot, and some of them may exist. */
  async makePipes(paths: readonly string[]): Promise<boolean> {
    if (this.#closed) return false
    this.start()
    return await this.#ask((id) => pipesMessage(id, paths))
  }

  async #ask(message: (id: number) => Buffer): Promise<boolean> {
    const id = ++this.#lastId
    const ended = Promise.withResolvers<number>()
    this.#asked.set(id, ended.resolve)
    this.#send(message(id))
    return (await ended.promise) === 0
  }

  async #killUser(user: Owner): Promise<void> {
    for (let tries = 0; tries < MOST_TRIES; tries += 1) if (await this.#tryKillUser(user)) return
    throw new Error(`the processes of user ${user.uid} could not be killed in ${MOST_TRIES} tries`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    const launcher = this.#launcher
    if (launcher === undefined) return
    const exited = once(launcher, 'exit')
    // It searches all processes for those of attempts that it believes to be running.
    launcher.stdin?.end(Buffer.concat([...this.#unsent.splice(0), ...this.#deferred.splice(0)]))
    await exited
  }

  async #tryKillUser(user: Owner): Promise<boolean> {
    if (this.#launcher === undefined || !this.#isReady) return await killAsUser(user)
    return (await this.#ask((id) => killUserMessage(id, user))) || (await killAsUser(user))
  }

  #spawn(): ChildProcess {
    const { command = '', args = [], env, privilegesArgument } = this.#programs[0] ?? {}
    const replies = new ReplyReader()
    const last = privilegesArgument === undefined ? [] : [privilegesArgument]
    const launcher = spawn(command, [...args, this.#pipeFolder, process.arch, ...last], {
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

  #commandsOf<K>(all: Map<K, Commands>, key: K): Commands {
    const known = all.get(key)
    if (known !== undefined) return known
    const commands = { launcher: this.#launcher, running: 0, hasNoOrphans: true, hasOthers: false }
    all.set(key, commands)
    return commands
  }

  /** Messages of the same turn of the event loop are sent together. */
  #send(...messages: Buffer[]): void {
    if (this.#unsent.length === 0)
      process.nextTick(() => this.#launcher?.stdin?.write(Buffer.concat(this.#unsent.splice(0))))
    this.#unsent.push(...messages)
  }

  #receive([kind, id, first, second, orphans]: readonly string[]): void {
    if (kind === 'ready') this.#isReady = true
    this.#asked.get(Number(id))?.(kind === 'ended' ? Number(first) + Number(second) : FAILED)
    this.#asked.delete(Number(id))
    const pending = this.#pending.get(Number(id))
    if (pending === undefined) return
    if (kind === 'started') {
      const { promise: ended } = pending.ended
      return pending.launched({ kind: 'started', pid: Number(first), ended })
    }
    this.#pending.delete(Number(id))
    const { peers } = pending
    for (const commands of peers) commands.running -= 1
    if (kind === 'failed') {
      const failed = failure(Number(first))
      pending.launched(failed)
      return pending.ended.resolve({ end: failed, mayHaveOrphans: false })
    }
    const mayHaveOrphans = orphans !== '0'
    for (const commands of peers)
      commands.hasNoOrphans =
        !mayHaveOrphans && commands.running === 0 && commands.launcher === this.#launcher
    pending.ended.resolve({ end: endOf(Number(first), Number(second)), mayHaveOrphans })
  }

  #onExit(launcher: ChildProcess, why: string): void {
    if (this.#launcher !== launcher) return
    this.#launcher = undefined
    for (const resolve of this.#asked.values()) resolve(FAILED)
    this.#asked.clear()
    if (!this.#isReady && this.#programs.length > 1) return this.#startNext()
    this.#isReady = false
    const reason = `the launcher has ended: ${why}`
    for (const { launched, ended } of this.#pending.values()) {
      launched({ kind: 'lost', reason })
      ended.resolve({ end: { kind: 'lost', reason }, mayHaveOrphans: true })
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

const failure = (errno: number): StartFailure => ({
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
const killAsUser = async ({ uid, gid }: Owner): Promise<boolean> => {
  const child = spawn('/bin/sh', ['-c', SCRIPT], { uid, gid, env: {}, cwd: '/', stdio: 'ignore' })
  const [code] = (await once(child, 'exit')) as [number | null]
  return code === 0
}
