import { Command, Option } from 'commander'
import { CliError, EXIT } from '../exit.ts'
import { addScanOptions, chosenWorkflows, spaceOf, type ScanOptions } from '../scan/scan-options.ts'
import type { Terminal } from '../terminal.ts'

export interface ExecOptions extends ScanOptions {
  readonly json?: boolean
  readonly folder?: string
  readonly workspacesFolder: string
  readonly skipValidation?: boolean
  readonly config?: string
  readonly output: 'text' | 'json'
}

const exec = async (terminal: Terminal, name: string | undefined, options: ExecOptions): Promise<void> => {
  const choices = chosenWorkflows(options, name)
  if (choices.length === 0)
    throw new CliError(
      EXIT.usage,
      'name one workflow: WORKFLOW, -f FLOW or -m MODULE (which may be given again)',
    )
  const { workspaceProblem } = await import('@scanfarm/contracts')
  const space = spaceOf(options)
  const problem = space === undefined ? undefined : workspaceProblem(space)
  if (problem !== undefined) throw new CliError(EXIT.usage, problem)
  const { execAll } = await import('../exec/exec-all.ts')
  await execAll(terminal, choices, options)
}

export const execCommand = (terminal: Terminal): Command =>
  addScanOptions(
    new Command('exec')
      .description('Run a workflow on targets right here: no server, no database, nothing recorded.')
      .argument('[workflow]', 'file, or name of a workflow'),
  )
    .addOption(
      new Option('-W, --workspaces-folder <folder>', 'folder in which every target gets its own').default(
        'scanfarm-output',
      ),
    )
    .addOption(
      new Option(
        '--folder <folder>',
        'where the run puts its files; of several targets each has a folder in it',
      ).conflicts('workspacesFolder'),
    )
    .option('--skip-validation', 'do not check what the workflow depends on: commands and kinds of target')
    .option('--dry-run', 'execute nothing; print the steps with their commands as they would run')
    .option('--config <file>', 'settings file')
    .addOption(
      new Option('-o, --output <format>', 'how to print; json: an object a line, as it happens')
        .choices(['text', 'json'])
        .default('text'),
    )
    .addOption(
      new Option('--json', 'print the runs with their steps as one JSON document').conflicts('output'),
    )
    .action((name: string | undefined, options: ExecOptions) => exec(terminal, name, options))
