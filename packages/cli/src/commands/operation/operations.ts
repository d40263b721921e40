import { createLogger, errorText, type Logger } from '@scanfarm/platform'
import { Command, Option } from 'commander'
import { printJson, printTable } from '../../client/table.ts'
import { CliError, EXIT } from '../../exit.ts'
import { loadSettings, type Config } from '../../settings.ts'
import { addParams } from '../../options.ts'
import { printLine, type Terminal } from '../../terminal.ts'
import type { FlowOptions } from './doctor.ts'

interface OperationOptions {
  readonly config?: string
  readonly master?: boolean
  readonly output?: 'table' | 'json'
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
  addParams(new Command('doctor'), 'with -f or -m: param of the run')
    .description(
      'Check everything that a server with these settings needs, or, with -f or -m, whether a workflow can run; exit code 1 if a check fails.',
    )
    .option('-f, --flow <name>', 'check whether this flow can run, on the farm or, without a server, here')
    .addOption(new Option('-m, --module <name>', 'the same for a module').conflicts('flow'))
    .option('-t, --target <target>', 'with -f or -m: target of the run')
    .option('--url <url>', 'with -f or -m: URL of the server (SCANFARM_URL)')
    .option('--master', 'also check what distributed runs need')
    .option('--config <file>', 'settings file')
    .addOption(
      new Option('-o, --output <format>', 'output format').choices(['table', 'json']).default('table'),
    )
    .option('--json', 'same as -o json')
    .action(async (options: OperationOptions & FlowOptions) => {
      if (options.flow !== undefined || options.module !== undefined) {
        const { examineFlow } = await import('./doctor.ts')
        return await examineFlow(terminal, options)
      }
      const { config, log } = prepare(terminal, options)
      const { diagnose } = await import('@scanfarm/server/operations')
      const findings = await diagnose(config, log)
      if (options.output === 'json' || options.json === true) printJson(terminal, findings)
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
