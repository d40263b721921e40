import { createLogger, errorText, type Logger } from '@scanfarm/platform'
import { Command, Option } from 'commander'
import { printAnswer, withOutput } from '../../client/connect.ts'
import { CliError, EXIT } from '../../exit.ts'
import { loadSettings, type Config } from '../../settings.ts'
import { addParams } from '../../options.ts'
import { printLine, type Terminal } from '../../terminal.ts'
import { failedParts, printChecks } from './checks.ts'
import type { FlowOptions } from './doctor.ts'

interface OperationOptions {
  readonly config?: string
  readonly master?: boolean
}

/** Logs warnings to the error stream: standard output is for the result of the command. */
const prepare = (terminal: Terminal, options: OperationOptions): { config: Config; log: Logger } => {
  const { config } = loadSettings(terminal, options.config, { 'server.master': options.master })
  return { config, log: createLogger({ level: 'warn', stream: terminal.err }) }
}

/** A database that a newer version has migrated is not unreachable: trying again does not help. */
const notMigrated = (error: unknown): never => {
  const isNewer = Error.isError(error) && error.name === 'NewerDatabaseError'
  throw new CliError(isNewer ? EXIT.failed : EXIT.unreachable, errorText(error))
}

export const migrateCommand = (terminal: Terminal): Command =>
  new Command('migrate')
    .description('Update the schema of the database to this version. Servers do this too when they start.')
    .option('--config <file>', 'settings file')
    .action(async (options: OperationOptions) => {
      const { config, log } = prepare(terminal, options)
      const { migrateDatabase } = await import('@scanfarm/server/operations')
      const { applied, version } = await migrateDatabase(config, log).catch(notMigrated)
      for (const name of applied) printLine(terminal, `applied ${name}`)
      printLine(terminal, `the database is at ${version}`)
    })

export const doctorCommand = (terminal: Terminal): Command =>
  withOutput(
    addParams(new Command('doctor'), 'with -f or -m: param of the run')
      .description(
        'Check everything that a server with these settings needs, or, with -f or -m, whether a workflow can run; exit code 1 if a check fails.',
      )
      .option('-f, --flow <name>', 'check whether this flow can run, on the farm or, without a server, here')
      .addOption(new Option('-m, --module <name>', 'the same for a module').conflicts('flow'))
      .option('-t, --target <target>', 'with -f or -m: target of the run')
      .option('--url <url>', 'with -f or -m: URL of the server (SCANFARM_URL)')
      .option('--master', 'also check what distributed runs need')
      .option('--config <file>', 'settings file'),
  ).action(async (options: OperationOptions & FlowOptions) => {
    if (options.flow !== undefined || options.module !== undefined) {
      const { examineFlow } = await import('./doctor.ts')
      return await examineFlow(terminal, options)
    }
    const { config, log } = prepare(terminal, options)
    const { diagnose } = await import('@scanfarm/server/operations')
    const checks = await diagnose(config, log)
    printAnswer(terminal, options, checks, () => printChecks(terminal, checks))
    const failed = failedParts(checks)
    if (failed.length > 0) throw new CliError(EXIT.failed, `failed checks: ${failed.join(', ')}`)
  })
