/** The exit codes of the program. `scanfarm --help` prints them, and scripts rely on them. */
export const EXIT = {
  done: 0,
  /** The command failed, or a run that it waited for did not complete. */
  failed: 1,
  /** Bad arguments or settings. Nothing was attempted. */
  usage: 2,
  /** All runs that the command waited for completed, and at least one of them did not do all of its work. */
  incomplete: 3,
  /** The server cannot be reached, or is not available at the moment. */
  unreachable: 4,
  /** The server refused the request: bad input, not found, wrong state, or forbidden. */
  refused: 5,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** Ends the program with a message for its user and no stack. */
export class CliError extends Error {
  override readonly name = 'CliError'
  readonly exitCode: ExitCode

  constructor(exitCode: ExitCode, message: string) {
    super(message)
    this.exitCode = exitCode
  }
}
