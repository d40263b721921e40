import type { Command } from 'commander'
import { COMMANDS } from './commands/all.ts'
import * as program from './program.ts'
import type { Terminal } from './terminal.ts'

export { CliError, EXIT, type ExitCode } from './exit.ts'
export type { Terminal } from './terminal.ts'

/** The program with all commands. */
export const buildProgram = async (terminal: Terminal): Promise<Command> =>
  await program.buildProgram([], terminal, COMMANDS)

/** Runs one command line (without program names) and returns the exit code. */
export const runProgram = async (args: readonly string[], terminal: Terminal): Promise<number> =>
  await program.runProgram(args, terminal, COMMANDS)
