import { authored, data, fromJson, type Json, type Value, type Variables } from '@scanfarm/language'
import { hasHooks } from './modules-of.ts'
import { heuristicsOf } from './heuristics.ts'
import { platformVariables } from './platform-variables.ts'
import { STATE_FILES } from './state-files.ts'
import type { ExecuteInput } from '../input.ts'
import { type Ports, targetVariables } from '@scanfarm/functions'

/** The input from which the built-in variables are computed. */
type Facts = Pick<
  ExecuteInput,
  | 'folders'
  | 'workspace'
  | 'target'
  | 'params'
  | 'runUuid'
  | 'runId'
  | 'eventEnvelope'
  | 'variables'
  | 'version'
  | 'localTarget'
  | 'rate'
> &
  Partial<Pick<ExecuteInput, 'workflow'>>

/** Default number of threads, and the numbers for each `tactic`. */
const THREADS = 10
const TACTICS: Readonly<Record<string, number>> = { aggressive: 40, fast: 40, gently: 5, thorough: 5 }

const threadsOf = ({ tactic = '', threads_hold: threads = '' }: Facts['params']): number =>
  Math.trunc(Number(threads)) || (TACTICS[tactic] ?? THREADS)

/** Length of `RandomString`. */
export const RANDOM_LETTERS = 6

const LETTERS = 'abcdefghijklmnopqrstuvwxyz'

export const randomText = (length: number, { random }: Pick<Ports, 'random'>, letters = LETTERS): string =>
  Array.from({ length }, () => letters[Math.floor(random() * letters.length)]).join('')

const folderVariables = ({ folders, workspace }: Facts): Record<string, string> => {
  const { base = '', binaries = '', configs = '', scripts = '', templates = '' } = folders
  const agentConfigs = folders.agentConfigs ?? configs
  const dataFolder = folders.data ?? ''
  return {
    BaseFolder: base,
    Binaries: binaries,
    Data: dataFolder,
    ExternalData: dataFolder,
    ExternalConfigs: configs,
    ExternalAgentConfigs: agentConfigs,
    ExternalAgents: agentConfigs,
    ExternalScripts: scripts,
    Workflows: folders.workflows ?? '',
    MarkdownTemplates: templates,
    ExternalMarkdowns: templates,
    SnapshotsFolder: folders.snapshots ?? '',
    workspaces_folder: folders.workspaces ?? folders.output.replace(/\/[^/]*$/, ''),
    Workspaces: folders.workspaces ?? folders.output.replace(/\/[^/]*$/, ''),
    Output: folders.output,
    TargetSpace: workspace,
    Workspace: workspace,
    space_name: workspace,
    TempDir: folders.temp,
    TempFile: `${folders.temp}/scratch`,
    ...Object.fromEntries(
      Object.entries(STATE_FILES).map(([name, file]) => [name, `${folders.output}/${file}`]),
    ),
    StateWorkflowFolder: `${folders.output}/run-modules`,
  }
}

const eventVariables = (envelope: string): Record<string, string> => {
  if (envelope === '') return {}
  let event: { [key: string]: Json } = {}
  try {
    const parsed = JSON.parse(envelope) as Json
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) event = parsed
  } catch {
    // Invalid JSON remains available as EventEnvelope.
  }
  const part = (key: string): string => {
    const value = event[key] ?? ''
    return typeof value === 'string' ? value : JSON.stringify(value)
  }
  return {
    EventEnvelope: envelope,
    EventTopic: part('topic'),
    EventSource: part('source'),
    EventDataType: part('data_type'),
    EventTimestamp: part('timestamp'),
    EventData: part('data'),
  }
}

/** Numbers of the part of a list that a caller scans. */
const chunkVariables = (params: Facts['params']): Record<string, number> =>
  Object.fromEntries(
    Object.entries({
      ChunkIndex: 'chunk_index',
      ChunkSize: 'chunk_size',
      TotalChunks: 'total_chunks',
      ChunkStart: 'chunk_start',
      ChunkEnd: 'chunk_end',
    }).flatMap(([name, param]) => {
      const text = params[param] ?? ''
      return /^\d{1,15}$/.test(text) ? [[name, Number(text)]] : []
    }),
  )

type Group = Readonly<Record<string, Value | string>>

const runVariables = (input: Facts, now: Date): Group => {
  const iso = now.toISOString()
  const threads = threadsOf(input.params)
  return {
    Target: input.target,
    target: input.target,
    TargetFile: input.params['target_file'] ?? '',
    Version: input.version ?? '',
    PlatformOS: process.platform,
    PlatformArch: process.arch === 'x64' ? 'amd64' : process.arch,
    HeuristicsCheck: heuristicsOf(input),
    RunUUID: input.runUuid,
    TaskDate: iso.slice(0, 10),
    Today: iso.slice(0, 10),
    // Without a zone, as in existing workflow files; it is UTC.
    CurrentTime: iso.slice(0, 19),
    FlowName: '',
    flow_name: '',
    threads,
    baseThreads: Math.max(1, Math.trunc(threads / 2)),
    DBRunID: input.runId,
    Rate: input.rate ?? 0,
    TimeStamp: Math.trunc(now.getTime() / 1000),
    HooksEnabled: input.workflow !== undefined && hasHooks(input.workflow),
    ...chunkVariables(input.params),
    ...platformVariables(),
  }
}

/** Variables of the operator's settings, which take precedence. */
const settingsVariables = ({ variables = {} }: Facts): Group =>
  Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [
      name,
      typeof value === 'string' ? authored(value) : fromJson(value),
    ]),
  )

/**
 * The variables that every run has. Paths and names are data: each is quoted as one word. A group of variables is
 * computed when one of it is first read, because most runs read few of them.
 */
export class Builtins implements Variables {
  readonly #groups: (Group | (() => Group))[]

  constructor(input: Facts, ports: Pick<Ports, 'now' | 'random'>) {
    const now = ports.now()
    this.#groups = [
      () => settingsVariables(input),
      () => runVariables(input, now),
      () => folderVariables(input),
      () => eventVariables(input.eventEnvelope ?? ''),
      () => ({ RandomString: randomText(RANDOM_LETTERS, ports) }),
      () => (heuristicsOf(input) === 'none' ? {} : targetVariables(input.target, input.localTarget)),
    ]
  }

  get(name: string): Value | undefined {
    for (let index = 0; index < this.#groups.length; index++) {
      const group = this.#group(index)
      if (!Object.hasOwn(group, name)) continue
      const value = group[name]
      return typeof value === 'string' ? data(value) : value
    }
    return undefined
  }

  /** The names of all variables. */
  names(): string[] {
    return this.#groups.flatMap((_, index) => Object.keys(this.#group(index)))
  }

  #group(index: number): Group {
    const group = this.#groups[index] ?? {}
    return typeof group === 'function' ? (this.#groups[index] = group()) : group
  }
}
