import { runProgram } from './program.ts'
import { endWithoutReader, processTerminal } from './terminal.ts'

endWithoutReader()
process.exitCode = await runProgram(process.argv.slice(2), processTerminal())
