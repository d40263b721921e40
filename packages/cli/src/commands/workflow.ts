import { access } from 'node:fs/promises'
import { relative } from 'node:path'
import { plural } from '@scanfarm/contracts'
import { fileErrorText } from '@scanfarm/platform'
import type { Problem, ProblemFormat, ResolvedWorkflow } from '@scanfarm/language'
import { Command, Option } from 'commander'
import packageJson from '../../package.json' with { type: 'json' }
import { printJson, printTable } from '../client/table.ts'
import { CliError, EXIT } from '../exit.ts'
import { noun } from '../noun.ts'
import { addParams, collect } from '../options.ts'
import { loadSettings } from '../settings.ts'
import { printLine, type Terminal } from '../terminal.ts'
import type { RecordOptions, TestOptions } from '../workflow-test/test-workflows.ts'

interface LintOptions {
  readonly config?: string
  readonly format: ProblemFormat
  readonly strict?: boolean
}

const FORMATS: readonly ProblemFormat[] = ['text', 'json', 'github', 'sarif']

const counted = (problems: readonly Problem[], files: number): string => {
  const count = (severity: Problem['severity']) =>
    problems.filter((problem) => problem.severity === severity).length
  return `${plural(files, 'file')}: ${plural(count('error'), 'error')}, ${plural(count('warning'), 'warning')}`
}

const isBad = (problem: Problem, strict: boolean): boolean =>
  problem.severity === 'error' || (strict && problem.severity === 'warning')

/** A path that does not exist is an error of the command, not a problem of a workflow. */
const mustBeReadable = async (path: string): Promise<void> => {
  await access(path).catch((error: unknown) => {
    throw new CliError(EXIT.usage, `${path} cannot be read: ${fileErrorText(error)}`)
  })
}

/** Code-scanning services only accept paths that are relative to the checkout. */
const fromHere = (problems: readonly Problem[]): Problem[] =>
  problems.map((problem) => ({ ...problem, file: relative('', problem.file) }))

const lintAll = async (
  terminal: Terminal,
  paths: readonly string[],
  { config: file, format, strict = false }: LintOptions,
): Promise<void> => {
  const { config } = loadSettings(terminal, file)
  await Promise.all(paths.map(mustBeReadable))
  // One after the other: the others import the first as well.
  const { lintPaths } = await import('@scanfarm/engine')
  const { renderProblems } = await import('@scanfarm/language')
  const { problemLines, workflowFolders } = await import('../workflows/find-workflow.ts')
  const { files, problems } = await lintPaths(paths, workflowFolders(config))
  if (format === 'text')
    for (const line of [...problemLines(problems), counted(problems, files)]) printLine(terminal, line)
  else if (format !== 'github' || problems.length > 0)
    printLine(
      terminal,
      renderProblems(format === 'sarif' ? fromHere(problems) : problems, format, packageJson.version),
    )
  if (files === 0 && problems.length === 0)
    throw new CliError(EXIT.usage, `nothing was checked: ${paths.join(', ')} has no workflow files`)
  if (problems.some((problem) => isBad(problem, strict)))
    throw new CliError(EXIT.failed, 'a workflow has problems')
}

const lintCommand = (terminal: Terminal): Command =>
  new Command('lint')
    .description(
      'Check workflows and what they refer to; exit code 1 if one has errors, 2 if no workflow is found.',
    )
    .argument('<path...>', 'workflow files, or folders that contain them')
    .option('--strict', 'treat warnings as errors')
    .option('--config <file>', 'settings file')
    .addOption(
      new Option('-o, --format <format>', 'output format; github: annotations of a pull request')
        .choices(FORMATS)
        .default('text'),
    )
    .action((paths: string[], options: LintOptions) => lintAll(terminal, paths, options))

const schemaCommand = (terminal: Terminal): Command =>
  new Command('schema')
    .description('Print the JSON Schema of the workflow language, for editors.')
    .action(async () => {
      const { workflowJsonSchema } = await import('@scanfarm/language')
      printJson(terminal, workflowJsonSchema())
    })

interface ShowOptions {
  readonly config?: string
  readonly output: 'text' | 'json'
}

const show = (terminal: Terminal, { root, modules }: ResolvedWorkflow, needs: readonly string[]): void => {
  printLine(terminal, `${root.kind} ${root.name}${root.description ? `: ${root.description}` : ''}`)
  if (needs.length > 0) printLine(terminal, `needs ${needs.join(', ')}`)
  if (root.params?.length) {
    printTable(
      terminal,
      [
        { title: 'PARAM', value: (param) => param.name },
        { title: 'TYPE', value: ({ type = '' }) => type },
        { title: 'REQUIRED', value: (param) => (param.required ? 'yes' : 'no') },
        {
          title: 'DEFAULT',
          value: (param) => (param.default === undefined ? '' : JSON.stringify(param.default)),
        },
        { title: 'MEANING', value: (param) => param.description },
      ],
      root.params,
    )
  }
  for (const ref of root.modules ?? [])
    printLine(
      terminal,
      `module ${ref.name}: ${plural((modules[ref.name] ?? ref).steps?.length ?? 0, 'step')}`,
    )
  for (const step of root.steps ?? []) printLine(terminal, `step ${step.name} (${step.type})`)
}

const showCommand = (terminal: Terminal): Command =>
  new Command('show')
    .description('Show a workflow with everything it refers to.')
    .argument('<workflow>', 'file or name of a workflow')
    .option('--config <file>', 'settings file')
    .addOption(new Option('-o, --output <format>', 'output format').choices(['text', 'json']).default('text'))
    .action(async (name: string, options: ShowOptions) => {
      const { config } = loadSettings(terminal, options.config)
      const [{ findWorkflow }, { requirements }] = await Promise.all([
        import('../workflows/find-workflow.ts'),
        import('@scanfarm/engine'),
      ])
      const workflow = await findWorkflow(config, name)
      if (options.output === 'json') printJson(terminal, workflow)
      else show(terminal, workflow, requirements(workflow))
    })

interface TestCommandOptions extends TestOptions, Partial<RecordOptions> {}

const testAll = async (
  terminal: Terminal,
  paths: readonly string[],
  { record, ...options }: TestCommandOptions,
): Promise<void> => {
  const [workflow, ...more] = paths
  const { recordCase, testWorkflows } = await import('../workflow-test/test-workflows.ts')
  if (record === undefined) return await testWorkflows(terminal, paths, options)
  if (workflow === undefined || more.length > 0 || !/^[\w.-]+$/.test(record))
    throw new CliError(
      EXIT.usage,
      '--record NAME makes a case of one workflow file; NAME has only letters, digits, _ . and -',
    )
  await mustBeReadable(workflow)
  await recordCase(terminal, workflow, { ...options, record })
}

const testCommand = (terminal: Terminal): Command =>
  addParams(
    new Command('test')
      .description(
        'Run the cases of workflows, with stand-ins for their programs; exit code 1 if one differs, 2 if there are none. The cases of NAME.yaml are in the folder NAME.test beside it.',
      )
      .argument('<path...>', 'workflow files, or folders that contain them'),
    'with --record: parameter of the workflow',
  )
    .option('--case <name>', 'run only the cases of this name')
    .option('--update', 'write what happens into the cases as what they expect')
    .addOption(
      new Option(
        '--record <name>',
        'run the workflow with its real programs, and make a case of it',
      ).conflicts(['case', 'update']),
    )
    .option('-t, --target <target>', 'with --record: target of the run')
    .option('--program <name>', 'with --record: another program to record; repeatable', collect)
    .option('--without <name>', 'with --record: a program that is missing; repeatable', collect)
    .option('--config <file>', 'settings file')
    .action((paths: string[], options: TestCommandOptions) => testAll(terminal, paths, options))

export const workflowCommand = noun(
  'workflow',
  'Check, test and show workflows, and print the schema of their language.',
  [lintCommand, testCommand, showCommand, schemaCommand],
)
