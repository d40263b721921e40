/** What the program's exit code says. Printed by `scanfarm --help`; scripts rely on it. */
export const EXIT = {
  done: 0,
  /** It could not be done, or a run that was waited for did not complete. */
  failed: 1,
  /** Bad arguments or settings; nothing was tried. */
  usage: 2,
  /** All runs that were waited for completed, and at least one of them did not do all of its work. */
  incomplete: 3,
  /** The server could not be reached, or cannot serve at the moment. */
  unreachable: 4,
  /** The server refused: bad input, no such thing, wrong state, not allowed. */
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
