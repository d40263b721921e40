import { join, resolve } from 'node:path'
import { plural } from '@scanfarm/contracts'
import { checkParams, Engine, paramWarnings } from '@scanfarm/engine'
import { localSpace, targetSpace, type AllowedPath } from '@scanfarm/functions'
import { manualRefusal, needsTarget, type ResolvedWorkflow } from '@scanfarm/language'
import { newUuid } from '@scanfarm/platform'
import { NO_STEP_WAS_DUE } from '../client/check-work.ts'
import { CliError, EXIT } from '../exit.ts'
import { readParams } from '../scan/params.ts'
import { spaceOf, type Choice, type ScanOptions } from '../scan/scan-options.ts'
import type { Config } from '../settings.ts'
import type { Terminal } from '../terminal.ts'
import { findWorkflow, folderOfFile } from '../workflows/find-workflow.ts'
import { collectTargets, namedTargets } from './collect-targets.ts'
import type { EndedRun, ExecTarget, PlannedRun } from './planned.ts'
import { documentReporter, linesReporter, textReporter } from './reporters.ts'
import { runAll } from './run-all.ts'
import type { ExecContext } from './perform.ts'
import { incompleteRuns, runsNotCompleted, reasonOf } from './summary.ts'
import { untilInterrupted } from '../until-interrupted.ts'

export interface ExecOptions extends ScanOptions {
  readonly json?: boolean
  readonly folder?: string
  readonly workspacesFolder: string
  readonly skipValidation?: boolean
  readonly config?: string
  readonly output: 'text' | 'json'
}

/** Refuses what a server refuses, with the same message. */
const refuse = (workflow: ResolvedWorkflow, params: Readonly<Record<string, string>>): void => {
  const refusal = manualRefusal(workflow.root)
  if (refusal !== undefined) throw new CliError(EXIT.usage, refusal)
  const [first, ...more] = checkParams(workflow, params)
  if (first === undefined) return
  const others = more.length === 0 ? '' : ` (and ${more.length} more)`
  throw new CliError(EXIT.usage, `${first.path.slice(1)}: ${first.message}${others}`)
}

/** Refuses unknown names: a module must not run because its name in -x is misspelled. */
const refuseExclusions = (workflows: readonly ResolvedWorkflow[], { exclude = [] }: ExecOptions): void => {
  const known = new Set(workflows.flatMap(({ root }) => (root.modules ?? []).map(({ name }) => name)))
  const unknown = exclude.find((name) => !known.has(name))
  if (unknown === undefined) return
  const there = known.size === 0 ? 'there are none: -x is for flows' : `there are ${[...known].join(', ')}`
  throw new CliError(EXIT.usage, `-x ${unknown}: no such module; ${there}`)
}

const spaceFor = ({ text, local }: ExecTarget, workflow: ResolvedWorkflow): string => {
  if (text === '') return targetSpace(workflow.root.name)
  return local === undefined ? targetSpace(text) : localSpace(text, local)
}

const planRuns = (
  targets: readonly ExecTarget[],
  workflows: readonly ResolvedWorkflow[],
  options: ExecOptions,
): PlannedRun[][] => {
  const given = spaceOf(options)
  const workspaces = resolve(options.folder ?? options.workspacesFolder)
  const alone = options.folder !== undefined && targets.length === 1
  return targets.map((target) =>
    workflows.map((workflow): PlannedRun => {
      const space = given ?? spaceFor(target, workflow)
      const run = { uuid: newUuid(), workflow, target, space }
      return alone ? { ...run, output: workspaces } : { ...run, output: join(workspaces, space), workspaces }
    }),
  )
}

const pathsOf = (
  choices: readonly Choice[],
  { targetFile, folder, workspacesFolder }: ExecOptions,
): AllowedPath[] => [
  { path: resolve(folder ?? workspacesFolder), write: true },
  ...choices.flatMap(({ name }) => {
    const sources = folderOfFile(name)
    return sources === undefined ? [] : [{ path: sources, write: false }]
  }),
  ...(targetFile === undefined || targetFile === '-' ? [] : [{ path: resolve(targetFile), write: false }]),
]

const findAll = async (config: Config, choices: readonly Choice[]): Promise<ResolvedWorkflow[]> => {
  const workflows: ResolvedWorkflow[] = []
  for (const { name, kind } of choices) workflows.push(await findWorkflow(config, name, kind))
  return workflows
}

/** Throws if one of the completed runs did not do all of its work. */
const checkWork = (ended: readonly EndedRun[]): void => {
  const [first, ...more] = incompleteRuns(ended)
  if (first === undefined) return
  const why = reasonOf(first.result) || NO_STEP_WAS_DUE
  throw new CliError(
    EXIT.incomplete,
    ended.length === 1
      ? `the run completed, but its outcome is ${first.result.outcome}: ${why}`
      : `${more.length + 1} of ${plural(ended.length, 'run')} completed without doing all of their work`,
  )
}

/** Runs the workflows on every target. Rejects with the exit code if a run did not do all of its work. */
export const execAll = async (
  terminal: Terminal,
  choices: readonly Choice[],
  options: ExecOptions,
  { config, runners }: Pick<ExecContext, 'config' | 'runners'>,
): Promise<void> => {
  const named = await namedTargets(terminal, options)
  const workflows = await findAll(config, choices)
  const { targetFile, dryRun = false, skipValidation = false } = options
  const params = {
    ...(await readParams(options)),
    ...(targetFile === undefined || targetFile === '-' ? {} : { target_file: resolve(targetFile) }),
  }
  for (const workflow of workflows) {
    refuse(workflow, params)
    for (const { field, message } of paramWarnings(workflow, params))
      terminal.err.write(`scanfarm: ${field}: ${message}\n`)
  }
  refuseExclusions(workflows, options)
  const targets = await collectTargets(terminal, options, named, workflows.some(needsTarget))
  const planned = planRuns(targets, workflows, options)
  const scale = { runs: planned.flat().length, workflows: workflows.length, dryRun }
  const create =
    options.json === true ? documentReporter : options.output === 'json' ? linesReporter : textReporter
  const reporter = create(terminal, scale)
  using interrupted = untilInterrupted()
  await using engine = new Engine()
  const ended = await runAll(planned, options.concurrency ?? 1, reporter, {
    terminal,
    config,
    engine,
    runners,
    params,
    paths: pathsOf(choices, options),
    skipValidation,
    dryRun,
    timeoutMs: options.timeout,
    signal: interrupted.signal,
  })
  reporter.finish(ended)
  const [first, ...more] = runsNotCompleted(ended)
  if (first === undefined) return checkWork(ended)
  const { status, errorMessage } = first.result
  if (ended.length === 1)
    throw new CliError(
      EXIT.failed,
      `the run ${status === 'cancelled' ? 'was cancelled' : status}${errorMessage && `: ${errorMessage}`}`,
    )
  throw new CliError(EXIT.failed, `${more.length + 1} of ${plural(ended.length, 'run')} did not complete`)
}
