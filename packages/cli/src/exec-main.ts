// The program with the command `exec` alone: the bundle contains it as one file.
import { execCommand } from './commands/runs/exec.ts'
import { runProgram } from './program.ts'
import { endWithoutOutput, processTerminal } from './terminal.ts'

endWithoutOutput()
process.exitCode = await runProgram(process.argv.slice(2), processTerminal(), {
  exec: async () => await Promise.resolve(execCommand),
})
