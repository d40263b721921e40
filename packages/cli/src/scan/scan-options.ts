import { HEURISTICS } from '@scanfarm/contracts'
import { Option, type Command } from 'commander'
import { CliError, EXIT } from '../exit.ts'
import { addParams, collect, duration, wholeNumber } from '../options.ts'

/** What `exec` and `run` have in common: on what to run, and how. */
export interface ScanOptions {
  readonly flow?: string
  readonly module?: string[]
  readonly target?: string[]
  readonly targetFile?: string
  readonly emptyTarget?: boolean
  readonly param?: Record<string, string>
  readonly paramsFile?: string
  readonly concurrency?: number
  /** Milliseconds. */
  readonly timeout?: number
  readonly space?: string
  readonly workspace?: string
  readonly exclude?: string[]
  readonly fuzzyExclude?: string[]
  readonly tactic?: string
  readonly threadsHold?: number
  readonly heuristicsCheck?: string
  readonly dryRun?: boolean
}

const addTargets = (command: Command): Command =>
  command
    .option('-f, --flow <name>', 'flow to run')
    .option('-m, --module <name>', 'module to run; given again, they run one after the other', collect)
    .option('-t, --target <target>', 'target, or a file that is the target; may be given again', collect)
    .option('-T, --target-file <file>', 'file of targets, a line each; - reads them from standard input')
    .option('--empty-target', 'run without a target')

/** The words of scans, the same for every command that starts some. */
export const addScanOptions = (command: Command): Command =>
  addParams(addTargets(command), 'parameter of the workflow')
    .option('-P, --params-file <file>', 'JSON or YAML file of parameters; those of -p go first')
    .option('-c, --concurrency <count>', 'targets at once', wholeNumber)
    .option('--timeout <duration>', 'limit for each run, like 2h, 1h30m or 1d; a number is minutes', duration)
    .option('-S, --space <name>', 'workspace of the runs; default: one for each target')
    .addOption(new Option('--workspace <name>', 'the same as --space').conflicts('space'))
    .option('-x, --exclude <module>', 'module of the flow to leave out; may be given again', collect)
    .option(
      '-X, --fuzzy-exclude <text>',
      'leave out modules whose name contains it; may be given again',
      collect,
    )
    .addOption(
      new Option('-B, --tactic <tactic>', 'threads of tools: 40, 10 or 5').choices([
        'aggressive',
        'default',
        'gently',
      ]),
    )
    .option('--threads-hold <count>', 'threads of tools', wholeNumber)
    .addOption(
      new Option(
        '--heuristics-check <level>',
        'how closely targets are looked at; advanced asks them',
      ).choices(HEURISTICS),
    )

export interface Choice {
  readonly name: string
  readonly kind?: 'flow' | 'module'
}

/** What is to be run: one workflow, or modules in their order. */
export const chosenWorkflows = ({ flow, module = [] }: ScanOptions, name?: string): Choice[] => {
  const ways: Choice[][] = [
    name === undefined ? [] : [{ name }],
    flow === undefined ? [] : [{ name: flow, kind: 'flow' }],
    module.map((one) => ({ name: one, kind: 'module' })),
  ]
  const [chosen, second] = ways.filter((way) => way.length > 0)
  return chosen === undefined || second !== undefined ? [] : chosen
}

export const spaceOf = ({ space, workspace }: ScanOptions): string | undefined => space ?? workspace

/** Whoever names a target and says that there is none has made a slip. */
export const refuseTargets = ({ target, targetFile, emptyTarget }: ScanOptions): void => {
  if (emptyTarget === true && (target !== undefined || targetFile !== undefined))
    throw new CliError(EXIT.usage, '--empty-target runs without a target: leave -t and -T out')
}
