export { CliError, EXIT, type ExitCode } from './exit.ts'
export { buildProgram, runProgram } from './program.ts'
export type { Terminal } from './terminal.ts'
