import { createLogger, errorText, type Logger } from '@scanfarm/platform'
import { Command, Option } from 'commander'
import { printJson, printTable } from '../client/table.ts'
import { CliError, EXIT } from '../exit.ts'
import { loadSettings, type Config } from '../settings.ts'
import { printLine, type Terminal } from '../terminal.ts'

interface OperationOptions {
  readonly config?: string
  readonly master?: boolean
  readonly output?: 'table' | 'json'
}

/** Logs warnings to the error stream: standard output is for the result of the command. */
const prepare = (terminal: Terminal, options: OperationOptions): { config: Config; log: Logger } => {
  const { config } = loadSettings(terminal, options.config, { 'server.master': options.master })
  return { config, log: createLogger({ level: 'warn', format: config.log.format, stream: terminal.err }) }
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
  new Command('doctor')
    .description('Check everything that a server with these settings needs; exit code 1 if a check fails.')
    .option('--master', 'also check what distributed runs need')
    .option('--config <file>', 'settings file')
    .addOption(
      new Option('-o, --output <format>', 'output format').choices(['table', 'json']).default('table'),
    )
    .action(async (options: OperationOptions) => {
      const { config, log } = prepare(terminal, options)
      const { diagnose } = await import('@scanfarm/server/operations')
      const findings = await diagnose(config, log)
      if (options.output === 'json') printJson(terminal, findings)
      else
        printTable(
          terminal,
          [
            { title: 'PART', value: (finding) => finding.part },
            { title: 'STATUS', value: (finding) => finding.status },
            { title: '', value: (finding) => finding.message },
          ],
          findings,
        )
      const failed = findings.filter(({ status }) => status === 'failed').map(({ part }) => part)
      if (failed.length > 0) throw new CliError(EXIT.failed, `failed checks: ${failed.join(', ')}`)
    })
