import { HEURISTICS } from '@scanfarm/contracts'
import { Option, type Command } from 'commander'
import type { Fields } from '../client/fields.ts'
import { CliError, EXIT } from '../exit.ts'
import { addParams, collect, duration, wholeNumber } from '../options.ts'

/** The options that `exec` and `run` share. */
export interface ScanOptions {
  readonly flow?: string
  readonly module?: string[]
  readonly target?: string[]
  readonly targetFile?: string
  readonly skipBad?: boolean
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
    .option('-m, --module <name>', 'module to run; repeatable, modules run one after the other', collect)
    .option('-t, --target <target>', 'target, or a file that is the target; repeatable', collect)
    .option('-T, --target-file <file>', 'file with one target per line; - is standard input')
    .option('--skip-bad', 'leave invalid lines of the -T file out instead of refusing it; each is reported')
    .option('--empty-target', 'run without a target')

/** Adds the options that `exec` and `run` share. */
export const addScanOptions = (command: Command): Command =>
  addParams(addTargets(command), 'parameter of the workflow')
    .option('-P, --params-file <file>', 'JSON or YAML file of parameters; -p overrides them')
    .option('-c, --concurrency <count>', 'number of targets at the same time', wholeNumber)
    .option(
      '--timeout <duration>',
      'time limit of each run, like 2h, 1h30m or 1d; a number alone is seconds',
      duration,
    )
    .option('-S, --space <name>', 'workspace of the runs; default: one for each target')
    .addOption(new Option('--workspace <name>', 'the same as --space').conflicts('space'))
    .option('-x, --exclude <module>', 'module of the flow to skip; repeatable', collect)
    .option('-X, --fuzzy-exclude <text>', 'skip modules whose name contains this text; repeatable', collect)
    .addOption(
      new Option('-B, --tactic <tactic>', 'number of threads for tools: 40, 10 or 5').choices([
        'aggressive',
        'default',
        'gently',
      ]),
    )
    .option('--threads-hold <count>', 'number of threads for tools', wholeNumber)
    .addOption(
      new Option(
        '--heuristics-check <level>',
        'how targets are classified; advanced sends requests to them',
      ).choices(HEURISTICS),
    )

/** The options of jobs and schedules that run only what is new or changed. */
export const DELTA = {
  mode: [
    '--delta',
    'run only targets that are new, changed, or not scanned for --max-age',
    undefined,
    { preset: 'delta' },
  ],
  max_age: ['--max-age <duration>', 'with --delta: like 12h; default 7d'],
  full_every: [
    '--full-every <count>',
    'with --delta: the first and then each time of so many, run all targets',
    wholeNumber,
  ],
} as const satisfies Fields

export interface Choice {
  readonly name: string
  readonly kind?: 'flow' | 'module'
}

/** The workflow to run, or the modules in order. */
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

/** `--empty-target` and a target contradict each other. */
export const refuseTargets = ({ target, targetFile, emptyTarget }: ScanOptions): void => {
  if (emptyTarget === true && (target !== undefined || targetFile !== undefined))
    throw new CliError(EXIT.usage, '--empty-target runs without a target: leave -t and -T out')
}
