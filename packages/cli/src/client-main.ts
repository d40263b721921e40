// The program with the commands that only call a server: the bundle contains it as one file.
import { CLIENT_COMMANDS } from './commands/client.ts'
import { runProgram } from './program.ts'
import { endWithoutOutput, processTerminal } from './terminal.ts'

endWithoutOutput()
process.exitCode = await runProgram(process.argv.slice(2), processTerminal(), CLIENT_COMMANDS)
