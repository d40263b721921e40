import type { ClientChannel } from 'ssh2'
import type { Outcome } from '@scanfarm/contracts'
import type { StopOptions } from '../interruption.ts'
import { attemptPrefix, commandGroup, commandMarker } from '../marker.ts'
import { ControlSession } from '../shell/control-session.ts'
import type { CommandTarget } from '../shell/run-in-session.ts'
import { SessionPool } from '../shell/session-pool.ts'
import { quote } from '../shell/session-script.ts'
import { ShellCommands } from '../shell/shell-commands.ts'
import { settlesWithin } from '@scanfarm/platform'
import type { RemoteFiles } from './remote-files.ts'
import { SftpFiles } from './sftp-files.ts'
import { ShellFiles } from './shell-files.ts'
import { SshChannel } from './ssh-channel.ts'
import type { ConnectionPool, Session } from './connection-pool.ts'

/** Concurrent shells of one run on a host; further commands wait. */
const MOST_SESSIONS = 16
/** After this time the exit trap on the host finishes alone. */
const CLOSE_MS = 5_000
const NEVER = new AbortController().signal

export interface RemoteHostOptions {
  readonly marker: string
  readonly cwd: string
  readonly stop: Required<StopOptions>
  readonly name: string
}

/** The remote host on which commands of a run execute. */
export class RemoteHost implements CommandTarget {
  readonly commands: ShellCommands
  readonly cwd: string
  readonly stop: Required<StopOptions>
  /** `user@host:port`, for messages. */
  readonly name: string
  readonly #host: ConnectionPool
  readonly #attempt: string
  #control: Promise<ControlSession> | undefined
  #controls = 0

  constructor(host: ConnectionPool, options: RemoteHostOptions) {
    this.#host = host
    this.name = options.name
    this.#attempt = options.marker
    this.cwd = options.cwd
    this.stop = options.stop
    this.commands = new ShellCommands(this, new SessionPool(() => this.#openSession(), MOST_SESSIONS))
  }

  /** Opens the control session if necessary. It kills the commands, also by itself when the connection ends. */
  async connect(signal: AbortSignal): Promise<ControlSession> {
    const opening = (this.#control ??= this.#openControl(signal))
    const control = await opening
    if (control.usable) return control
    // Another command may have opened a new one already.
    if (this.#control === opening) this.#control = undefined
    return await this.connect(signal)
  }

  async nextMarker(number: number): Promise<string> {
    await this.connect(NEVER)
    return commandMarker(this.#group, number)
  }

  /**
   * The prefix of the markers of all commands that start under the current control session. A control session kills its
   * commands when the host detects the loss of the connection; by then, commands of the next one may already run.
   */
  get #group(): string {
    return commandGroup(this.#attempt, this.#controls)
  }

  async kill(marker: string, leader: number, stop: Required<StopOptions>): Promise<number[]> {
    try {
      return await (await this.connect(NEVER)).kill(marker, leader, stop)
    } catch {
      // The host cannot be reached; the exit trap kills the commands there.
      return []
    }
  }

  async explainLoss(why: string | undefined): Promise<Outcome> {
    const reason =
      why === undefined ? 'the shell that ran the command has ended' : `the connection was lost: ${why}`
    return { kind: 'lost', reason: `${this.name}: ${reason}` }
  }

  /** By SFTP, or by the shell if the host offers no SFTP. */
  async withFiles<T>(use: (files: RemoteFiles) => Promise<T>, signal: AbortSignal): Promise<T> {
    const { noSftp } = this.#host
    if (noSftp !== undefined) return await use(this.#shellFiles(noSftp, signal))
    const session = await this.#host.open((connection) => connection.sftp(), signal)
    const sftp = session.value
    try {
      if (typeof sftp !== 'string') return await use(new SftpFiles(sftp))
    } finally {
      if (typeof sftp !== 'string') sftp.end()
      session.release()
    }
    this.#host.noSftp = sftp
    return await use(this.#shellFiles(sftp, signal))
  }

  /** Cancels running commands, kills orphans, and removes the folder if given. */
  async close(folder: string | undefined): Promise<void> {
    await this.commands[Symbol.asyncDispose]()
    const control = await this.#control?.catch(() => undefined)
    if (control === undefined) return
    const remove = folder === undefined ? '' : `rm -rf -- ${quote(folder)}`
    const finished = control.finish(`${killAll(this.#attempt)}\n${remove}`)
    if (!(await settlesWithin(finished, CLOSE_MS))) control.close()
  }

  async #openControl(signal: AbortSignal): Promise<ControlSession> {
    this.#controls += 1
    try {
      const exitTrap = `trap ${quote(killAll(this.#group))} EXIT\ntrap exit HUP TERM PIPE`
      return new ControlSession(await this.#openShell(signal), exitTrap)
    } catch (error) {
      this.#control = undefined
      throw error
    }
  }

  async #openSession(): Promise<SshChannel> {
    await this.connect(NEVER)
    return await this.#openShell(NEVER)
  }

  async #openShell(signal: AbortSignal): Promise<SshChannel> {
    const { value, connection } = await this.#exec('exec /bin/sh', signal)
    return new SshChannel(value, connection.gone)
  }

  #shellFiles(noSftp: string, signal: AbortSignal): ShellFiles {
    return new ShellFiles(async (command) => (await this.#exec(command, signal)).value, noSftp)
  }

  async #exec(command: string, signal: AbortSignal): Promise<Session<ClientChannel>> {
    const session = await this.#host.open((connection) => connection.exec(command), signal)
    session.value.once('close', () => session.release())
    return session
  }
}

/** `group`: the marker of an attempt or of a group of its commands. */
const killAll = (group: string): string => `scanfarm_kill_all - ${quote(attemptPrefix(group))} 0 0`
