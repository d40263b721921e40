export interface User {
  readonly uid: number
  readonly gid: number
}

/** What a launcher needs to start a process: all of it decided, nothing inherited. */
export interface LaunchRequest {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  /** Named pipes whose reading ends are open already. */
  readonly stdout: string
  readonly stderr: string
  readonly uid?: number
  readonly gid?: number
  /** The attempt's marker: what to sweep for when whoever asked is gone. */
  readonly marker: string
}

export type ProcessEnd =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'signalled'; readonly signal: string }
  | { readonly kind: 'lost'; readonly reason: string }

export type Launched =
  | { readonly kind: 'started'; readonly pid: number; readonly ended: Promise<ProcessEnd> }
  /** `code` is the system's word, such as `ENOENT`. */
  | { readonly kind: 'failed'; readonly code: string; readonly message: string }
  /** Whether it started is unknown. */
  | { readonly kind: 'lost'; readonly reason: string }

/**
 * Starts processes, each as leader of a session of its own, stdin at its end. `ended` settles when the process is
 * reaped, never rejects.
 */
export interface Launcher extends AsyncDisposable {
  launch(request: LaunchRequest): Promise<Launched>
  /** The attempt is over: nothing of it needs killing any more. */
  forget(marker: string): void
  /** Kills every process of a user that belongs to commands alone. Rejects when some may be left. */
  purge(user: User): Promise<void>
}
