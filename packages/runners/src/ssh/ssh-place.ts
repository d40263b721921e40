import type { Outcome } from '@scanfarm/contracts'
import { attemptPrefix, commandGroup, commandMarker } from '../marker.ts'
import { ControlLane } from '../shell/control-lane.ts'
import type { ShellPlace } from '../shell/follow-command.ts'
import { LanePool } from '../shell/lane-pool.ts'
import { quote } from '../shell/quote.ts'
import { ShellCommands } from '../shell/shell-commands.ts'
import { settlesWithin } from '../stop-watch.ts'
import { SftpFiles } from './sftp-files.ts'
import { SshChannel } from './ssh-channel.ts'
import type { SshHost } from './ssh-host.ts'

/** Shells of one run on a host at once; more commands wait in line. */
const MOST_LANES = 16
/** A host that has not finished by then is left to its own last words. */
const FAREWELL_MS = 5_000
const NEVER = new AbortController().signal

export interface SshPlaceOptions {
  readonly marker: string
  readonly cwd: string
  readonly graceMs: number
  /** `user@host:port`, for messages. */
  readonly name: string
}

/** The shells of one run on an ssh host. */
export class SshPlace implements ShellPlace {
  readonly commands: ShellCommands
  readonly cwd: string
  readonly graceMs: number
  readonly #host: SshHost
  readonly #name: string
  readonly #attempt: string
  #control: Promise<ControlLane> | undefined
  #controls = 0

  constructor(host: SshHost, options: SshPlaceOptions) {
    this.#host = host
    this.#name = options.name
    this.#attempt = options.marker
    this.cwd = options.cwd
    this.graceMs = options.graceMs
    this.commands = new ShellCommands(this, new LanePool(() => this.#openLane(), MOST_LANES))
  }

  /** Makes sure that there is a shell that can kill, and that kills by itself when the connection ends. */
  async connect(signal: AbortSignal): Promise<ControlLane> {
    const opening = (this.#control ??= this.#openControl(signal))
    const control = await opening
    if (control.usable) return control
    // Another command that saw the same may have opened a new one already.
    if (this.#control === opening) this.#control = undefined
    return await this.connect(signal)
  }

  async nextMarker(number: number): Promise<string> {
    await this.connect(NEVER)
    return commandMarker(this.#group, number)
  }

  /**
   * The markers of all commands that start under the current control shell begin with this. A control shell kills its
   * commands when the host notices that the connection is lost; by then, commands of the next one may already run.
   */
  get #group(): string {
    return commandGroup(this.#attempt, this.#controls)
  }

  async kill(marker: string, leader: number, graceMs: number): Promise<number[]> {
    try {
      return await (await this.connect(NEVER)).kill(marker, leader, graceMs)
    } catch {
      // No way to the host: its own last words kill what runs there.
      return []
    }
  }

  async explainLoss(why: string | undefined): Promise<Outcome> {
    const reason =
      why === undefined ? 'the shell that ran the command is gone' : `the connection is gone: ${why}`
    return { kind: 'lost', reason: `${this.#name}: ${reason}` }
  }

  async withFiles<T>(use: (files: SftpFiles) => Promise<T>, signal: AbortSignal): Promise<T> {
    const session = await this.#host.open((connection) => connection.sftp(), signal)
    try {
      return await use(new SftpFiles(session.value))
    } finally {
      session.value.end()
      session.release()
    }
  }

  /** Cancels what runs, kills what is left, and removes the folder if one is named. */
  async close(folder: string | undefined): Promise<void> {
    await this.commands[Symbol.asyncDispose]()
    const control = await this.#control?.catch(() => undefined)
    if (control === undefined) return
    const remove = folder === undefined ? '' : `rm -rf -- ${quote(folder)}`
    const said = control.finish(`${killAll(this.#attempt)}\n${remove}`)
    if (!(await settlesWithin(said, FAREWELL_MS))) control.close()
  }

  async #openControl(signal: AbortSignal): Promise<ControlLane> {
    this.#controls += 1
    try {
      const lastWords = `trap ${quote(killAll(this.#group))} EXIT\ntrap exit HUP TERM PIPE`
      return new ControlLane(await this.#openShell(signal), lastWords)
    } catch (error) {
      this.#control = undefined
      throw error
    }
  }

  async #openLane(): Promise<SshChannel> {
    await this.connect(NEVER)
    return await this.#openShell(NEVER)
  }

  async #openShell(signal: AbortSignal): Promise<SshChannel> {
    const session = await this.#host.open((connection) => connection.exec('exec /bin/sh'), signal)
    session.value.once('close', () => session.release())
    return new SshChannel(session.value, session.connection.gone)
  }
}

/** `group`: the marker of an attempt, or of a group of its commands. */
const killAll = (group: string): string => `scanfarm_kill_all - ${quote(attemptPrefix(group))} 0 0`
