import { errorText } from '@scanfarm/platform'
import { readFile } from 'node:fs/promises'
import type { Problem, ResolvedWorkflow } from '@scanfarm/workflow'
import { Command, Option } from 'commander'
import { printJson, printTable } from '../client/table.ts'
import { CliError, EXIT } from '../exit.ts'
import { loadSettings } from '../settings.ts'
import { printLine, type Terminal } from '../terminal.ts'

interface LintOptions {
  readonly output: 'text' | 'json'
  readonly strict?: boolean
}

const readWorkflow = async (file: string): Promise<string> => {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new CliError(EXIT.usage, `${file} cannot be read: ${errorText(error)}`)
  }
}

const counted = (problems: readonly Problem[], files: number): string => {
  const count = (severity: Problem['severity']) =>
    problems.filter((problem) => problem.severity === severity).length
  return `${files} files: ${count('error')} errors, ${count('warning')} warnings`
}

const isBad = (problem: Problem, strict: boolean): boolean =>
  problem.severity === 'error' || (strict && problem.severity === 'warning')

const lintFiles = async (
  terminal: Terminal,
  files: readonly string[],
  options: LintOptions,
): Promise<void> => {
  const [{ lint }, { problemLines }] = await Promise.all([
    import('@scanfarm/workflow'),
    import('../workflows/problems.ts'),
  ])
  const found: Problem[] = []
  for (const file of files) found.push(...lint(await readWorkflow(file), file))
  if (options.output === 'json') printJson(terminal, found)
  else for (const line of [...problemLines(found), counted(found, files.length)]) printLine(terminal, line)
  if (found.some((problem) => isBad(problem, options.strict === true)))
    throw new CliError(EXIT.failed, 'a workflow has problems')
}

const lintCommand = (terminal: Terminal): Command =>
  new Command('lint')
    .description('Check workflow files; exit code 1 when one has errors.')
    .argument('<file...>', 'workflow files')
    .option('--strict', 'warnings count as errors')
    .addOption(new Option('-o, --output <format>', 'how to print').choices(['text', 'json']).default('text'))
    .action((files: string[], options: LintOptions) => lintFiles(terminal, files, options))

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
    printLine(terminal, `module ${ref.name}: ${(modules[ref.name] ?? ref).steps?.length ?? 0} steps`)
  for (const step of root.steps ?? []) printLine(terminal, `step ${step.name} (${step.type})`)
}

const showCommand = (terminal: Terminal): Command =>
  new Command('show')
    .description('Show a workflow with everything it refers to.')
    .argument('<workflow>', 'file, or name of a workflow')
    .option('--config <file>', 'settings file')
    .addOption(new Option('-o, --output <format>', 'how to print').choices(['text', 'json']).default('text'))
    .action(async (name: string, options: ShowOptions) => {
      const { config } = loadSettings(terminal, options.config)
      const [{ findWorkflow }, { requirements }] = await Promise.all([
        import('../workflows/find-workflow.ts'),
        import('@scanfarm/workflow'),
      ])
      const workflow = await findWorkflow(config, name)
      if (options.output === 'json') printJson(terminal, workflow)
      else show(terminal, workflow, requirements(workflow))
    })

export const workflowCommand = (terminal: Terminal): Command =>
  new Command('workflow')
    .description('Check and show workflow files.')
    .addCommand(lintCommand(terminal))
    .addCommand(showCommand(terminal))
