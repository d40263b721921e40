import { readFile } from 'node:fs/promises'
import type { CaseExpected, RunnerProvider, WorkflowCase } from '@scanfarm/contracts'
import { checkParams, resolveName, type Engine } from '@scanfarm/engine'
import type { ResolvedWorkflow } from '@scanfarm/language'
import { namedTargets } from '../exec/collect-targets.ts'
import { perform } from '../exec/perform.ts'
import type { Config } from '../settings.ts'
import type { Terminal } from '../terminal.ts'
import { contentOf } from './case-file.ts'
import { CliError, EXIT } from '../exit.ts'
import { observe } from './observe.ts'
import type { CaseFolders } from './case-folders.ts'
import { pathWithout } from './stand-ins.ts'

/** Shared by all cases of one command. */
export interface TestContext {
  readonly terminal: Terminal
  readonly config: Config
  readonly engine: Engine
  readonly runners: RunnerProvider
  readonly signal: AbortSignal
}

export type CaseInput = Pick<WorkflowCase, 'target' | 'params' | 'at' | 'without'> & {
  /** Resolves host names as recorded; missing: for real. */
  readonly names?: WorkflowCase['names'] | undefined
}

const WORKSPACE = 'test'
const TIMEOUT_MS = 30 * 60_000
/** A larger report is not compared. */
const MAX_REPORT_BYTES = 64 * 1024

const checked = (workflow: ResolvedWorkflow, params: Readonly<Record<string, string>>) => {
  const [problem] = checkParams(workflow, params)
  if (problem !== undefined) throw new CliError(EXIT.failed, `${problem.path.slice(1)}: ${problem.message}`)
  return params
}

const mapValues = <A, B>(record: Readonly<Record<string, A>>, change: (value: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]))

export interface CaseResult {
  readonly seen: Omit<CaseExpected, 'files'>
  /** The host names that the run resolved. */
  readonly names: Readonly<Record<string, string[]>>
  /** The reports of the run. */
  readonly reports: readonly string[]
}

/** Runs a workflow as `exec` does, with the stand-ins of `folders` first on PATH. */
export const runCase = async (
  workflow: ResolvedWorkflow,
  input: CaseInput,
  folders: CaseFolders,
  { terminal, config, engine, runners, signal }: TestContext,
): Promise<CaseResult> => {
  const { recorder, database, reports, facts } = observe(folders)
  const names = new Map<string, string[]>()
  const now = new Date(input.at)
  const [target = { text: '' }] =
    input.target === '' ? [] : await namedTargets(terminal, { target: [folders.show(input.target)] })
  const path = terminal.env['PATH'] ?? config.runner.path
  const others = await pathWithout(path, input.without ?? [], folders)
  const env = { ...terminal.env, PATH: `${folders.programs}:${others}` }
  const result = await perform(
    { uuid: folders.uuid, workflow, target, space: WORKSPACE, output: folders.output },
    recorder,
    {
      terminal: { ...terminal, env: { ...env, HOME: folders.home } },
      config,
      engine,
      runners,
      params: checked(workflow, mapValues(input.params, folders.show)),
      paths: [{ path: folders.show('{{Cases}}'), write: false }],
      skipValidation: false,
      dryRun: false,
      timeoutMs: TIMEOUT_MS,
      signal,
      temp: folders.temp,
      services: { database },
      ports: {
        now: () => now,
        random: () => 0.5,
        async resolve(host) {
          const found = input.names === undefined ? [...(await resolveName(host))] : (input.names[host] ?? [])
          names.set(host, found)
          return found
        },
      },
    },
  )
  const { status, errorMessage, outcome = '', tally } = result
  const reasons = [errorMessage, ...tally.reasons].filter(Boolean).map(folders.hide)
  return {
    seen: { status, outcome, reasons, ...facts() },
    names: Object.fromEntries(names),
    reports: reports(),
  }
}

/** The content of files of the run, by path with placeholders. Files that do not exist are left out. */
export const readFiles = async (
  paths: readonly string[],
  folders: CaseFolders,
  maxBytes = MAX_REPORT_BYTES,
): Promise<CaseExpected['files']> => {
  const found: CaseExpected['files'] = {}
  for (const path of paths) {
    const bytes = await readFile(path).catch(() => undefined)
    if (bytes !== undefined && bytes.length <= maxBytes)
      found[folders.hide(path)] = contentOf(bytes, folders.hide)
  }
  return found
}
