import type { Command, CommandIo, Outcome } from '@scanfarm/contracts'
import { runInSession, type CommandTarget } from './run-in-session.ts'
import { RunningCommands } from '../running-commands.ts'
import { isShellName } from './session-script.ts'
import type { ShellSession } from './shell-session.ts'
import type { SessionPool } from './session-pool.ts'

/** Runs commands in shell sessions, in a container or on a remote host. */
export class ShellCommands implements AsyncDisposable {
  readonly #target: CommandTarget
  readonly #sessions: SessionPool
  readonly #running = new RunningCommands()
  #commands = 0

  constructor(target: CommandTarget, sessions: SessionPool) {
    this.#target = target
    this.#sessions = sessions
  }

  /** `signal`: a further signal that cancels the command. */
  async run(command: Command, io: CommandIo, signal: AbortSignal = io.signal): Promise<Outcome> {
    return await this.#running.add(
      this.#run(command, io, AbortSignal.any([io.signal, signal, this.#running.closing])),
    )
  }

  /** Cancels running commands, then closes the sessions. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#running.cancelAll()
    this.#sessions.close()
  }

  async #run(command: Command, io: CommandIo, signal: AbortSignal): Promise<Outcome> {
    if (signal.aborted) return { kind: 'cancelled', killed: [] }
    const name = Object.keys(command.env).find((key) => !isShellName(key))
    if (name !== undefined)
      return {
        kind: 'not-started',
        reason: `the environment variable ${JSON.stringify(name)} cannot be set there: rename it to letters, digits and _ only, not beginning with a digit`,
      }
    const session = await this.#acquire(signal)
    if ('kind' in session) return session
    try {
      const marker = await this.#marker()
      if (typeof marker !== 'string') return marker
      return await runInSession(this.#target, session, marker, command, io, signal)
    } finally {
      this.#sessions.release(session)
    }
  }

  async #marker(): Promise<string | Outcome> {
    try {
      return await this.#target.nextMarker(++this.#commands)
    } catch (error) {
      return { kind: 'not-started', reason: messageOf(error) }
    }
  }

  async #acquire(signal: AbortSignal): Promise<ShellSession | Outcome> {
    try {
      return await this.#sessions.acquire(signal)
    } catch (error) {
      if (signal.aborted) return { kind: 'cancelled', killed: [] }
      return { kind: 'not-started', reason: messageOf(error) }
    }
  }
}

/** Without the causes: these messages include them. */
const messageOf = (error: unknown): string => (Error.isError(error) ? error.message : String(error))
