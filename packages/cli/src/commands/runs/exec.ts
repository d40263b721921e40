import { workspaceProblem } from '@scanfarm/contracts'
import { Command, Option } from 'commander'
import type { ExecOptions } from '../../exec/exec-all.ts'
import { CliError, EXIT } from '../../exit.ts'
import { addScanOptions, chosenWorkflows, spaceOf } from '../../scan/scan-options.ts'
import type { Terminal } from '../../terminal.ts'

const exec = async (terminal: Terminal, name: string | undefined, options: ExecOptions): Promise<void> => {
  const choices = chosenWorkflows(options, name)
  if (choices.length === 0)
    throw new CliError(EXIT.usage, 'name one workflow: WORKFLOW, -f FLOW or -m MODULE (repeatable)')
  const space = spaceOf(options)
  const problem = space === undefined ? undefined : workspaceProblem(space)
  if (problem !== undefined) throw new CliError(EXIT.usage, problem)
  const { loadSettings } = await import('../../settings.ts')
  const { config } = loadSettings(terminal, options.config)
  // The launcher starts while the rest of the code is loaded.
  const { createOwnRunners } = await import('../../workflows/own-environment.ts')
  await using runners = createOwnRunners(config, terminal.env['SSH_AUTH_SOCK'], options.dryRun !== true)
  const { execAll } = await import('../../exec/exec-all.ts')
  await execAll(terminal, choices, options, { config, runners })
}

export const execCommand = (terminal: Terminal): Command =>
  addScanOptions(
    new Command('exec')
      .description(
        'Run a workflow on targets on this machine, without a server or a database. Nothing is recorded.',
      )
      .argument('[workflow]', 'file or name of a workflow'),
  )
    .addOption(
      new Option('-W, --workspaces-folder <folder>', 'folder that contains a folder for each target').default(
        'scanfarm-output',
      ),
    )
    .addOption(
      new Option(
        '--folder <folder>',
        'folder of the run; with several targets, each has a folder in it',
      ).conflicts('workspacesFolder'),
    )
    .option(
      '--skip-validation',
      'do not check the dependencies of the workflow: commands and types of targets',
    )
    .option('--dry-run', 'execute nothing; print the steps with their commands as they would run')
    .option('--config <file>', 'settings file')
    .addOption(
      new Option('-o, --output <format>', 'output format; json: one object per line, as it happens')
        .choices(['text', 'json'])
        .default('text'),
    )
    .addOption(
      new Option('--json', 'print the runs with their steps as one JSON document').conflicts('output'),
    )
    .action((name: string | undefined, options: ExecOptions) => exec(terminal, name, options))
