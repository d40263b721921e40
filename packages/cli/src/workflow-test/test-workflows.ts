import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { plural, type WorkflowCase } from '@scanfarm/contracts'
import { Engine, requirements } from '@scanfarm/engine'
import { plain } from '../client/table.ts'
import { CliError, EXIT } from '../exit.ts'
import { loadSettings } from '../settings.ts'
import { printLine, type Terminal } from '../terminal.ts'
import { untilInterrupted } from '../until-interrupted.ts'
import { findWorkflow } from '../workflows/find-workflow.ts'
import { createOwnRunners } from '../workflows/own-environment.ts'
import { readCase, writeCase } from './case-file.ts'
import { caseFiles, caseName, casesFolder, workflowsWithCases } from './cases.ts'
import { differences } from './compare.ts'
import { CaseFolders } from './case-folders.ts'
import { makeWrappers, recordedCalls } from './recording.ts'
import { readFiles, runCase, type CaseInput, type TestContext } from './run-case.ts'
import { makeStandIns, wrongCalls } from './stand-ins.ts'

export interface TestOptions {
  readonly case?: string
  readonly update?: boolean
  readonly config?: string
}

export interface RecordOptions {
  readonly record: string
  readonly target?: string
  readonly param?: Readonly<Record<string, string>>
  readonly program?: readonly string[]
  readonly without?: readonly string[]
  readonly config?: string
}

const inContext = async <T>(
  terminal: Terminal,
  file: string | undefined,
  work: (context: TestContext) => Promise<T>,
): Promise<T> => {
  const { config } = loadSettings(terminal, file)
  await using runners = createOwnRunners(config, undefined, true)
  await using engine = new Engine()
  using interrupted = untilInterrupted()
  return await work({ terminal, config, engine, runners, signal: interrupted.signal })
}

/** Runs a case; resolves to what differs from it, and writes what happened into its file if asked to. */
const runFile = async (
  workflow: string,
  file: string,
  update: boolean,
  context: TestContext,
): Promise<string[]> => {
  const one = await readCase(file)
  await using folders = await CaseFolders.make(casesFolder(workflow))
  await makeStandIns(one, folders)
  const resolved = await findWorkflow(context.config, workflow)
  const { seen, reports } = await runCase(resolved, { names: {}, ...one }, folders, context)
  const paths = update ? reports : Object.keys(one.expect.files).map(folders.show)
  const expect = { ...seen, files: await readFiles(paths, folders) }
  const lines = differences(update ? expect : one.expect, expect, await wrongCalls(one, folders))
  if (update && lines.length === 0) await writeCase(file, { ...one, expect })
  return lines
}

/** Runs the cases of workflows. Rejects if one differs, or if there are none. */
export const testWorkflows = async (
  terminal: Terminal,
  paths: readonly string[],
  options: TestOptions,
): Promise<void> => {
  const files: { workflow: string; file: string }[] = []
  for (const path of paths)
    for (const workflow of await workflowsWithCases(path))
      for (const file of await caseFiles(workflow, options.case)) files.push({ workflow, file })
  if (files.length === 0)
    throw new CliError(
      EXIT.usage,
      `nothing was tested: ${paths.join(', ')} has no cases${options.case === undefined ? '' : ` named ${options.case}`}; record one with --record NAME -t TARGET`,
    )
  const failed = await inContext(terminal, options.config, async (context) => {
    let count = 0
    for (const { workflow, file } of files) {
      const began = performance.now()
      const lines = await runFile(workflow, file, options.update === true, context)
      context.signal.throwIfAborted()
      const ms = Math.round(performance.now() - began)
      printLine(terminal, `${lines.length === 0 ? 'ok' : 'FAILED'} ${relative('', file)} (${ms} ms)`)
      for (const line of lines) printLine(terminal, `  ${plain(line)}`)
      if (lines.length > 0) count++
    }
    return count
  })
  printLine(terminal, `${plural(files.length, 'case')}: ${files.length - failed} passed, ${failed} failed`)
  if (failed > 0) throw new CliError(EXIT.failed, `${failed} of ${plural(files.length, 'case')} failed`)
}

/** Makes a case of a real run, then runs it. */
export const recordCase = async (
  terminal: Terminal,
  workflow: string,
  { record, target = '', param = {}, program = [], without = [], config: settings }: RecordOptions,
): Promise<void> => {
  const file = join(casesFolder(workflow), `${record}.yaml`)
  if (existsSync(file)) throw new CliError(EXIT.usage, `${file} exists: remove it, or choose another name`)
  await inContext(terminal, settings, async (context) => {
    const resolved = await findWorkflow(context.config, workflow)
    await using folders = await CaseFolders.make(casesFolder(workflow))
    const needed = requirements(resolved).flatMap((need) => (need.startsWith('tool:') ? [need.slice(5)] : []))
    const programs = [...new Set([...needed, ...program])].filter((name) => !without.includes(name)).sort()
    const { PATH = context.config.runner.path } = terminal.env
    await makeWrappers(programs, PATH, folders)
    const input: CaseInput = {
      target: folders.hide(target),
      params: param,
      at: new Date().toISOString(),
      ...(without.length === 0 ? {} : { without: [...without] }),
    }
    const { seen, names, reports } = await runCase(resolved, input, folders, context)
    context.signal.throwIfAborted()
    const { calls, mixed, fed } = await recordedCalls(folders)
    const one: WorkflowCase = {
      target: input.target,
      params: Object.fromEntries(Object.entries(param).map(([name, value]) => [name, folders.hide(value)])),
      at: input.at,
      ...(input.without && { without: input.without }),
      ...(Object.keys(names).length === 0 ? {} : { names }),
      programs,
      calls,
      expect: { ...seen, files: await readFiles(reports, folders) },
    }
    await writeCase(file, one)
    printLine(
      terminal,
      `recorded ${one.calls.length} calls of ${programs.join(', ') || 'no program'}: ${relative('', file)}`,
    )
    if (mixed !== undefined)
      terminal.err.write(
        `scanfarm: calls of ${mixed.program} with equal arguments (${plain(JSON.stringify(mixed.args))}) ran side by side and gave different results, which the test may swap: give them different arguments, or run them one after the other\n`,
      )
    if (fed.length > 0)
      terminal.err.write(
        `scanfarm: ${fed.join(', ')} may have read an input, which the case does not contain: a test gives the same answer to any input; write it to a file that reports name to have it compared\n`,
      )
    const lines = await runFile(workflow, file, false, context)
    for (const line of lines) printLine(terminal, `  ${plain(line)}`)
    if (lines.length > 0)
      throw new CliError(
        EXIT.failed,
        `the case ${caseName(file)} does not repeat what it recorded: edit it, or record more programs with --program`,
      )
  })
}
