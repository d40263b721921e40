import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { targetProblem } from '@scanfarm/contracts'
import type { Config } from '@scanfarm/platform'
import type { ExecuteResult } from '@scanfarm/workflow'
import { Command, Option } from 'commander'
import { CliError, EXIT } from '../exit.ts'
import { collectParam } from '../options.ts'
import { loadSettings } from '../settings.ts'
import { printLine, type Terminal } from '../terminal.ts'

interface ExecOptions {
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

const perform = async (
  terminal: Terminal,
  config: Config,
  name: string,
  options: ExecOptions,
  temp: string,
): Promise<ExecuteResult> => {
  const [{ execute }, { findWorkflow }, { createOwnRunners }, { createNarrator, createJsonNarrator }] =
    await Promise.all([
      import('@scanfarm/workflow'),
      import('../workflows/find-workflow.ts'),
      import('../workflows/own-runners.ts'),
      import('../workflows/narrator.ts'),
    ])
  const workflow = await findWorkflow(config, name)
  const output = resolve(options.folder)
  await mkdir(output, { recursive: true })
  const runUuid = randomUUID()
  const interrupted = untilInterrupted()
  const recorder = options.output === 'json' ? createJsonNarrator(terminal) : createNarrator(terminal)
  await using runners = createOwnRunners(config, terminal.env['SSH_AUTH_SOCK'])
  const { PATH = config.runner.path, HOME = temp, LANG = 'C.UTF-8' } = terminal.env
  try {
    return await execute({
      workflow,
      target: options.target,
      params: options.param ?? {},
      workspace: 'exec',
      runUuid,
      runId: 0,
      attempt: 1,
      folders: { output, temp },
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

const exec = async (terminal: Terminal, name: string, options: ExecOptions): Promise<void> => {
  const problem = targetProblem(options.target)
  if (problem !== undefined) throw new CliError(EXIT.usage, problem)
  const { config } = loadSettings(terminal, options.config)
  const temp = await mkdtemp(join(tmpdir(), 'scanfarm-exec-'))
  try {
    const { status, errorMessage } = await perform(terminal, config, name, options, temp)
    if (options.output === 'json')
      printLine(terminal, JSON.stringify({ what: 'ended', status, errorMessage }))
    if (status !== 'completed')
      throw new CliError(EXIT.failed, `the run ${status}${errorMessage && `: ${errorMessage}`}`)
  } finally {
    await rm(temp, { recursive: true, force: true })
  }
}

export const execCommand = (terminal: Terminal): Command =>
  new Command('exec')
    .description('Run a workflow on one target right here: no server, no database, nothing recorded.')
    .argument('<workflow>', 'file, or name of a workflow')
    .requiredOption('-t, --target <target>', 'target')
    .option('-p, --param <name=value>', 'parameter of the workflow; may be given again', collectParam)
    .option('--folder <folder>', 'where the run puts its files', 'scanfarm-output')
    .option('--dry-run', 'execute nothing; every step says what it would do')
    .option('--config <file>', 'settings file')
    .addOption(new Option('-o, --output <format>', 'how to print').choices(['text', 'json']).default('text'))
    .action((name: string, options: ExecOptions) => exec(terminal, name, options))
