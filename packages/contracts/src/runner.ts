import type { RunnerType } from './words.ts'

/**
 * One program to run. `argv` is program and arguments, never shell text; a shell command is
 * `['/bin/sh', '-c', text]`.
 */
export interface Command {
  readonly argv: readonly string[]
  /** The whole environment of the program: nothing is inherited from the worker. */
  readonly env: Readonly<Record<string, string>>
  /**
   * Absolute folder on the machine that runs the command; missing: the one that the runner was configured with, else the
   * workspace of the run, else its folder.
   */
  readonly cwd?: string
  /** Wall-clock limit; missing: none. */
  readonly timeoutMs?: number
  /** Time between TERM and KILL when the command is cancelled or times out. */
  readonly graceMs?: number
}

export type OutputStream = 'stdout' | 'stderr'

export interface CommandIo {
  /** Abort = cancel: TERM to the whole process tree, grace, KILL, then a sweep by the run's marker. */
  readonly signal: AbortSignal
  /**
   * Called in the order in which each stream wrote (the two streams are not ordered against each other). A returned
   * promise is back-pressure: the runner reads no more of that stream until it settles. The chunk is the callee's.
   */
  onOutput?(stream: OutputStream, chunk: Buffer): void | Promise<void>
  /** Called once, as soon as a process exists, with its pid where it runs (container and ssh: the pid there). */
  onStart?(pid: number): void
}

/** Everything that can happen to a program. `killed` lists pids that were alive when the kill began. */
export type Outcome =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'signalled'; readonly signal: string; readonly reason?: string }
  | { readonly kind: 'timed-out'; readonly killed: readonly number[] }
  | { readonly kind: 'cancelled'; readonly killed: readonly number[] }
  /** The program never ran: missing, not executable, no such folder, no such image. */
  | { readonly kind: 'not-started'; readonly reason: string }
  /** It ran and its end is unknown: connection gone, engine gone. An exit code is never guessed. */
  | { readonly kind: 'lost'; readonly reason: string }

/** Where the commands of a run execute. Made by a `RunnerProvider`, used for all steps of the run, then closed. */
export interface Runner extends AsyncDisposable {
  readonly type: RunnerType
  /** Facts for the run's record, such as `image_digest` or `host`. */
  readonly facts: Readonly<Record<string, string>>
  /** True where commands see the executor's own files (host). */
  readonly sharesFiles: boolean
  /**
   * Runs one command. Safe to call concurrently. Resolves for everything that can happen to a program and rejects
   * only for bugs; when it resolves, every process, channel and timer of the command has been freed.
   */
  run(command: Command, io: CommandIo): Promise<Outcome>
  /** Brings files of the run's folder, or of its workspace, to where commands run (`push`) or back (`pull`); no-op when `sharesFiles`. */
  push(path: string, signal: AbortSignal): Promise<void>
  pull(path: string, signal: AbortSignal): Promise<void>
}

export type RunnerSpec =
  | { readonly type: 'host' }
  | {
      readonly type: 'docker'
      readonly image: string
      readonly env?: Readonly<Record<string, string>>
      /** `source:target[:ro]` */
      readonly volumes?: readonly string[]
      readonly network?: string
      readonly workdir?: string
      readonly user?: string
      /** One container for all commands (default) or one for each. */
      readonly persistent?: boolean
    }
  | {
      readonly type: 'ssh'
      /** Host name or address; `user@host:port` is taken apart before. */
      readonly host: string
      readonly port?: number
      readonly user?: string
      readonly keyFile?: string
      readonly password?: string
      readonly workdir?: string
      /** `user@host:port` of a host to go through. */
      readonly jump?: string
      readonly knownHosts?: string
      readonly hostKeys?: 'strict' | 'accept-new'
    }

export interface RunnerContext {
  readonly runUuid: string
  readonly attempt: number
  /** Absolute folder of the run on this machine. */
  readonly folder: string
  /** Another folder that commands use at the same path, shared with other runs: it stays when the run is over. */
  readonly workspace?: string
  /** A folder that commands on this machine may write to besides. */
  readonly home?: string
  /**
   * What the environment variable `SCANFARM_MARKER` begins with in every process of this attempt (`#`, the number
   * of the command and `;` follow); the last sweep after a kill finds by it what left the process group. Unique for each
   * attempt, without `#`.
   */
  readonly marker: string
  /** The user that commands on this machine run as; missing: the user of the runner. */
  readonly owner?: { readonly uid: number; readonly gid: number }
  readonly signal: AbortSignal
  /** Progress worth showing, such as that of an image pull. */
  log(line: string): void
}

export interface RunnerProvider extends AsyncDisposable {
  /** Ready to run commands, or an `AppError`-free rejection of type `RunnerUnavailableError` that says why not. */
  open(spec: RunnerSpec, context: RunnerContext): Promise<Runner>
}

/** The place where commands should run cannot be used; the run fails with this message before any step. */
export class RunnerUnavailableError extends Error {
  override readonly name = 'RunnerUnavailableError'
}
