import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { targetProblem, type RunRecorder, type WorkflowKind } from '@scanfarm/contracts'
import type { Config } from '@scanfarm/platform'
import type { ExecuteResult, ResolvedWorkflow } from '@scanfarm/workflow'
import { Command, Option } from 'commander'
import { printJson } from '../client/table.ts'
import { CliError, EXIT } from '../exit.ts'
import { collectParam } from '../options.ts'
import { loadSettings } from '../settings.ts'
import { printLine, type Terminal } from '../terminal.ts'

interface ExecOptions {
  readonly flow?: string
  readonly module?: string
  readonly json?: boolean
  readonly target: string
  readonly param?: Record<string, string>
  readonly folder: string
  readonly dryRun?: boolean
  readonly config?: string
  readonly output: 'text' | 'json'
}

/** Aborts with the first Ctrl-C, so that commands are killed and everything is tidied up. */
const untilInterrupted = (): { signal: AbortSignal; forget: () => void } => {
  const abort = new AbortController()
  const stop = (): void => abort.abort()
  process.once('SIGINT', stop).once('SIGTERM', stop)
  return { signal: abort.signal, forget: () => process.off('SIGINT', stop).off('SIGTERM', stop) }
}

/** What is to be run: the argument, or what `-f` or `-m` names together with its kind. */
const chosen = (
  name: string | undefined,
  { flow, module }: ExecOptions,
): { name: string; kind?: WorkflowKind } => {
  const choices: { name: string | undefined; kind?: WorkflowKind }[] = [
    { name },
    { name: flow, kind: 'flow' },
    { name: module, kind: 'module' },
  ]
  const [first, second] = choices.flatMap((choice) =>
    choice.name === undefined ? [] : [{ ...choice, name: choice.name }],
  )
  if (first === undefined || second !== undefined)
    throw new CliError(EXIT.usage, 'name one workflow: WORKFLOW, -f FLOW or -m MODULE')
  return first
}

interface Performance {
  readonly workflow: ResolvedWorkflow
  readonly recorder: RunRecorder
  readonly runUuid: string
  readonly output: string
  readonly temp: string
  /** Of the file of the workflow, where one was named. */
  readonly sources: string | undefined
}

const perform = async (
  terminal: Terminal,
  config: Config,
  options: ExecOptions,
  { workflow, recorder, runUuid, output, temp, sources }: Performance,
): Promise<ExecuteResult> => {
  const [{ execute, parseAllowedPaths }, { createOwnRunners }] = await Promise.all([
    import('@scanfarm/workflow'),
    import('../workflows/own-runners.ts'),
  ])
  await mkdir(output, { recursive: true })
  const interrupted = untilInterrupted()
  await using runners = createOwnRunners(config, terminal.env['SSH_AUTH_SOCK'])
  const { PATH = config.runner.path, HOME = temp, LANG = 'C.UTF-8' } = terminal.env
  try {
    return await execute({
      workflow,
      target: options.target,
      params: options.param ?? {},
      strictParams: config.workflows.strictParams,
      workspace: 'exec',
      runUuid,
      runId: 0,
      attempt: 1,
      folders: { output, temp },
      paths: [
        { path: process.cwd(), write: true },
        ...(sources === undefined ? [] : [{ path: sources, write: false }]),
        ...parseAllowedPaths(config.runner.paths),
      ],
      env: { PATH, HOME, LANG, TMPDIR: temp, SCANFARM_TARGET: options.target, SCANFARM_OUTPUT: output },
      openRunner: (spec) =>
        runners.open(spec, {
          runUuid,
          attempt: 1,
          folder: temp,
          workspace: output,
          marker: `${runUuid}.1`,
          signal: interrupted.signal,
          log: (line) => recorder.log('info', line),
        }),
      recorder,
      signal: interrupted.signal,
      dryRun: options.dryRun,
      limits: { graceMs: config.runs.cancelGraceMs },
    })
  } finally {
    interrupted.forget()
  }
}

/** Runs it and tells of it in the way that was asked for. */
const tell = async (
  terminal: Terminal,
  config: Config,
  workflow: ResolvedWorkflow,
  options: ExecOptions,
  place: Pick<Performance, 'temp' | 'sources'>,
): Promise<ExecuteResult> => {
  const [{ createNarrator, createJsonNarrator }, { createRunDocument }] = await Promise.all([
    import('../workflows/narrator.ts'),
    import('../workflows/run-document.ts'),
  ])
  const at = { workflow, runUuid: randomUUID(), output: resolve(options.folder), ...place }
  if (options.json === true) {
    // Standard output holds nothing but the document; people see the steps on the other stream.
    const document = createRunDocument(createNarrator({ ...terminal, out: terminal.err }))
    const result = await perform(terminal, config, options, { ...at, recorder: document.recorder })
    const { name, kind } = workflow.root
    const { target, dryRun = false } = options
    const facts = { uuid: at.runUuid, workflow: name, kind, target, dryRun, folder: at.output }
    printJson(terminal, document.finish(facts, result))
    return result
  }
  if (options.output === 'text')
    return perform(terminal, config, options, { ...at, recorder: createNarrator(terminal) })
  const result = await perform(terminal, config, options, { ...at, recorder: createJsonNarrator(terminal) })
  const { status, errorMessage } = result
  printLine(terminal, JSON.stringify({ what: 'ended', status, errorMessage }))
  return result
}

/** What a server refuses is refused here too, with the same words. */
const refuse = async (workflow: ResolvedWorkflow, params: Record<string, string>): Promise<void> => {
  const { checkParams, manualRefusal } = await import('@scanfarm/workflow')
  const shut = manualRefusal(workflow.root)
  if (shut !== undefined) throw new CliError(EXIT.usage, shut)
  const [first, ...more] = checkParams(workflow, params)
  if (first === undefined) return
  const others = more.length === 0 ? '' : ` (and ${more.length} more)`
  throw new CliError(EXIT.usage, `${first.path.slice(1)}: ${first.message}${others}`)
}

const exec = async (terminal: Terminal, name: string | undefined, options: ExecOptions): Promise<void> => {
  const choice = chosen(name, options)
  const problem = targetProblem(options.target)
  if (problem !== undefined) throw new CliError(EXIT.usage, problem)
  const { config } = loadSettings(terminal, options.config)
  const { findWorkflow, folderOfFile } = await import('../workflows/find-workflow.ts')
  const workflow = await findWorkflow(config, choice.name, choice.kind)
  await refuse(workflow, options.param ?? {})
  const temp = await mkdtemp(join(tmpdir(), 'scanfarm-exec-'))
  try {
    const { status, errorMessage } = await tell(terminal, config, workflow, options, {
      temp,
      sources: folderOfFile(choice.name),
    })
    if (status !== 'completed')
      throw new CliError(EXIT.failed, `the run ${status}${errorMessage && `: ${errorMessage}`}`)
  } finally {
    await rm(temp, { recursive: true, force: true })
  }
}

export const execCommand = (terminal: Terminal): Command =>
  new Command('exec')
    .description('Run a workflow on one target right here: no server, no database, nothing recorded.')
    .argument('[workflow]', 'file, or name of a workflow')
    .option('-f, --flow <name>', 'the same, and it is a flow')
    .option('-m, --module <name>', 'the same, and it is a module')
    .requiredOption('-t, --target <target>', 'target')
    .option('-p, --param <name=value>', 'parameter of the workflow; may be given again', collectParam)
    .option('--folder <folder>', 'where the run puts its files', 'scanfarm-output')
    .option('--dry-run', 'execute nothing; print the steps with their commands as they would run')
    .option('--config <file>', 'settings file')
    .addOption(
      new Option('-o, --output <format>', 'how to print; json: an object a line, as it happens')
        .choices(['text', 'json'])
        .default('text'),
    )
    .addOption(
      new Option('--json', 'print the run with its steps as one JSON document at the end').conflicts(
        'output',
      ),
    )
    .action((name: string | undefined, options: ExecOptions) => exec(terminal, name, options))
