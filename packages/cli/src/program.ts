import { ConfigError } from '@scanfarm/platform'
import { Command, CommanderError } from 'commander'
import packageJson from '../package.json' with { type: 'json' }
import { artifactsCommand } from './commands/artifacts.ts'
import { cancelCommand, duplicateCommand, startCommand } from './commands/change-runs.ts'
import { cloudCommand } from './commands/cloud.ts'
import { configCommand } from './commands/config.ts'
import { eventsCommand } from './commands/events.ts'
import { execCommand } from './commands/exec.ts'
import { functionCommand } from './commands/function.ts'
import { assetsCommand, findingsCommand } from './commands/findings.ts'
import { healthCommand } from './commands/health.ts'
import { importBaseCommand } from './commands/import-base.ts'
import { jobCommand } from './commands/job.ts'
import { runsCommand, stepsCommand, workersCommand, workflowsCommand } from './commands/lists.ts'
import { doctorCommand, migrateCommand } from './commands/operations.ts'
import { runCommand } from './commands/run.ts'
import { tokenCommand } from './commands/token.ts'
import { schedulesCommand } from './commands/schedules.ts'
import { uploadCommand } from './commands/upload.ts'
import { serverCommand } from './commands/server.ts'
import { workflowCommand } from './commands/workflow.ts'
import { workerCommand } from './commands/worker.ts'
import { CliError, EXIT } from './exit.ts'
import { refuseRepetitions } from './options.ts'
import type { Terminal } from './terminal.ts'

const EXIT_HELP = `
Exit codes: 0 done; 1 failed, or a run that was waited for did not complete; 2 bad arguments or settings;
3 all runs that were waited for completed, but one of them did not do all of its work; 4 server not reachable;
5 refused by the server; 128 + signal if a second signal stopped it at once.`

const COMMANDS = [
  serverCommand,
  workerCommand,
  configCommand,
  migrateCommand,
  doctorCommand,
  importBaseCommand,
  healthCommand,
  runCommand,
  runsCommand,
  jobCommand,
  cancelCommand,
  duplicateCommand,
  startCommand,
  stepsCommand,
  artifactsCommand,
  findingsCommand,
  assetsCommand,
  workflowsCommand,
  workersCommand,
  cloudCommand,
  schedulesCommand,
  eventsCommand,
  uploadCommand,
  tokenCommand,
  workflowCommand,
  execCommand,
  functionCommand,
]

/** Subcommands inherit the output of the program, and throw instead of ending the process. */
const inherit = (command: Command, path = command.name()): void => {
  refuseRepetitions(command)
  command.showHelpAfterError(`  see: ${path} --help`)
  for (const child of command.commands)
    inherit(child.copyInheritedSettings(command), `${path} ${child.name()}`)
}

export const buildProgram = (terminal: Terminal): Command => {
  const program = new Command('scanfarm')
    .description('Run security-scan workflows against targets over a farm of machines.')
    .version(packageJson.version)
    .addHelpText('after', EXIT_HELP)
    .configureOutput({
      writeOut: (text) => void terminal.out.write(text),
      writeErr: (text) => void terminal.err.write(text),
      outputError: (text, write) => write(text.replace(/^error: /, 'scanfarm: ')),
    })
  for (const command of COMMANDS) program.addCommand(command(terminal))
  program.exitOverride().enablePositionalOptions()
  inherit(program)
  return program
}

const report = (terminal: Terminal, error: unknown): number => {
  // Help and version end with this error too, with code 0. Their text has been printed.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage
  if (error instanceof ConfigError) {
    terminal.err.write(`scanfarm: ${error.message}\n`)
    return EXIT.usage
  }
  if (error instanceof CliError) {
    terminal.err.write(`scanfarm: ${error.message}\n`)
    return error.exitCode
  }
  terminal.err.write(`scanfarm: ${Error.isError(error) ? (error.stack ?? error.message) : String(error)}\n`)
  return EXIT.failed
}

/** Runs one command line (without program names) and returns the exit code. */
export const runProgram = async (args: readonly string[], terminal: Terminal): Promise<number> => {
  try {
    await buildProgram(terminal).parseAsync([...args], { from: 'user' })
    return EXIT.done
  } catch (error) {
    return report(terminal, error)
  }
}
