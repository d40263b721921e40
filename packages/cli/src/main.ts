import { runProgram } from './index.ts'
import { endWithoutOutput, processTerminal } from './terminal.ts'

endWithoutOutput()
process.exitCode = await runProgram(process.argv.slice(2), processTerminal())
