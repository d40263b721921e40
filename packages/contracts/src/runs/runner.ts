import type { RunnerType } from '../enums.ts'

/** A program to run. `argv`: program and arguments, never shell text, which is `['/bin/sh', '-c', text]`. */
export interface Command {
  readonly argv: readonly string[]
  /** The complete environment of the program; nothing is inherited from the worker. */
  readonly env: Readonly<Record<string, string>>
  /**
   * Absolute folder on the machine that executes the command. If missing: the folder configured for the runner, else
   * the workspace of the run, else the run's folder.
   */
  readonly cwd?: string
  /** Wall-clock limit; missing: none. */
  readonly timeoutMs?: number
  /** Time between TERM and KILL on cancel or timeout. */
  readonly graceMs?: number
}

export type OutputStream = 'stdout' | 'stderr'

export interface CommandIo {
  /** Aborting cancels it: TERM to the process tree, KILL after the grace time, a sweep by the run's marker. */
  readonly signal: AbortSignal
  /**
   * Called in the order of each stream; the two streams are not ordered relative to each other. A returned promise is
   * back-pressure: the runner reads no more of that stream until it settles. The callee owns the chunk.
   */
  onOutput?(stream: OutputStream, chunk: Buffer): void | Promise<void>
  /**
   * Called with the pid of the started process (in a container or on an ssh host: the pid there). Another call means that
   * the process could not execute the program, and that another process is started instead.
   */
  onStart?(pid: number): void
}

/** Result of a program. `killed` lists the pids that were alive when the kill began. */
export type Outcome =
  | {
      readonly kind: 'exited'
      readonly code: number
      /** Which of its packets the machine did not send, because their destination is forbidden. */
      readonly blocked?: string
    }
  | { readonly kind: 'signalled'; readonly signal: string; readonly reason?: string }
  | { readonly kind: 'timed-out'; readonly killed: readonly number[] }
  | { readonly kind: 'cancelled'; readonly killed: readonly number[] }
  /** The program was not started: program, folder or image is missing, or the program is not executable. */
  | { readonly kind: 'not-started'; readonly reason: string }
  /** It was started, and its end is unknown: ssh or the docker engine was lost. No exit code is guessed. */
  | { readonly kind: 'lost'; readonly reason: string }

/** Executes the commands of a run. Created by a `RunnerProvider`, used for all steps of the run, then closed. */
/** The network of commands that is not that of host commands. */
export interface CommandNetwork {
  /** The address of this machine in it. */
  readonly gateway: string
  /** Whether an address in it is that of its commands. */
  isOwn(address: string): Promise<boolean>
}

export interface Runner extends AsyncDisposable {
  readonly type: RunnerType
  /** Facts for the record of the run, for example `image_digest` or `host`. */
  readonly facts: Readonly<Record<string, string>>
  /** True if commands see the files of this machine (host). */
  readonly sharesFiles: boolean
  /** Missing, or undefined: commands cannot reach this machine. */
  network?(): Promise<CommandNetwork | undefined>
  /**
   * Runs one command. May be called concurrently. Resolves for everything that can happen to a program and rejects only
   * for bugs. When it resolves, all processes, channels and timers of the command have been freed.
   */
  run(command: Command, io: CommandIo): Promise<Outcome>
  /**
   * Copies files of the run's folder, or of its workspace, to the runner (`push`) or back (`pull`). Does nothing if
   * `sharesFiles`.
   */
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
      /** One container for all commands (default) or one per command. */
      readonly persistent?: boolean
    }
  | {
      readonly type: 'ssh'
      /** Host name or address, without user and port. */
      readonly host: string
      readonly port?: number
      readonly user?: string
      readonly keyFile?: string
      readonly password?: string
      readonly workdir?: string
      /** `user@host:port` of a jump host. */
      readonly jump?: string
      readonly knownHosts?: string
      readonly hostKeys?: 'strict' | 'accept-new'
    }

/** The user that commands run as and that owns their files. */
export interface Owner {
  readonly uid: number
  readonly gid: number
}

export interface RunnerContext {
  readonly runUuid: string
  readonly attempt: number
  /** Absolute folder of the run on this machine. */
  readonly folder: string
  /** Another folder that commands use at the same path. It is shared with other runs and remains after the run. */
  readonly workspace?: string
  /** Another folder that commands on this machine may write to. */
  readonly home?: string
  /**
   * Prefix of the environment variable `SCANFARM_MARKER` in every process of this attempt; `#`, the number of the
   * command and `;` follow. The sweep after a kill finds processes that left the process group by it. Unique per
   * attempt, without `#`.
   */
  readonly marker: string
  /** The user that commands on this machine run as; missing: the user of the runner. Decided by `prepare`. */
  readonly owner?: Owner
  /** Makes the folders, if they may not exist yet. A runner calls it before it uses them or the owner. */
  prepare?(): Promise<unknown>
  readonly signal: AbortSignal
  /** Logs progress, for example of an image pull. */
  log(line: string): void
}

export interface RunnerProvider extends AsyncDisposable {
  /** Opens a runner that is ready to run commands. Rejects with `RunnerUnavailableError` and the reason. */
  open(spec: RunnerSpec, context: RunnerContext): Promise<Runner>
}

/** The runner cannot be used. The run fails with this message before its first step. */
export class RunnerUnavailableError extends Error {
  override readonly name = 'RunnerUnavailableError'
}
