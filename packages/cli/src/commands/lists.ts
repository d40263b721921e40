import type { Artifact, Pagination, Run, Step, Worker } from '@scanfarm/contracts'
import { Option, type Command } from 'commander'
import type { QueryOf } from '../client/api.ts'
import { addQuery, queryFrom, type CommandOptions, type QueryOptions } from '../client/query.ts'
import { clientCommand, connect, wantsJson, type ClientOptions } from '../client/connect.ts'
import { cut, printFields, printJson, printTable, shortTime, type Column } from '../client/table.ts'
import { addWorkflow, idArgument, wholeNumber, wholeNumberOrZero } from '../options.ts'
import { printLine, type Terminal } from '../terminal.ts'

export interface Page<T> {
  readonly data: readonly T[]
  readonly pagination?: Pagination
}

export const printPage = <T>(
  terminal: Terminal,
  options: ClientOptions,
  page: Page<T>,
  columns: readonly Column<T>[],
): void => {
  if (wantsJson(options)) return printJson(terminal, page)
  printTable(terminal, columns, page.data)
  const { pagination } = page
  if (pagination === undefined) return
  const { total, offset } = pagination
  const next = offset + page.data.length
  if (next < total) printLine(terminal, `${page.data.length} of ${total}; continue with --offset ${next}`)
}

/** Options of lists in pages. */
export const PAGE = {
  limit: ['--limit <count>', 'maximum number of records', wholeNumber],
  offset: ['--offset <count>', 'number of records to skip', wholeNumberOrZero],
} as const satisfies QueryOptions

export interface PageOptions {
  readonly limit?: number
  readonly offset?: number
}

export const paged = (command: Command): Command => addQuery(command, PAGE)

const RUNS: QueryOptions = {
  ...PAGE,
  status: ['--status <status>', 'pending, queued, running, completed, failed or cancelled'],
  outcome: [
    '--outcome <outcomes>',
    'outcomes of ended runs, separated by commas: clean, partial, nothing_done',
  ],
  target: ['--target <target>', 'runs on this target'],
  priority: ['--priority <priority>', 'low, normal, high or critical'],
  job_id: ['--job <id>', 'runs of this job'],
  parent: ['--parent <run>', 'runs that execute items of loops of this run, which are not listed otherwise'],
  sort: [
    '--sort <field>',
    'created, target, workflow, workspace, status, outcome or took; with - in reverse',
  ],
}

const RUN_COLUMNS: readonly Column<Run>[] = [
  { title: 'ID', value: (run) => run.id },
  { title: 'STATUS', value: (run) => run.status, coloured: true },
  { title: 'OUTCOME', value: (run) => run.outcome, coloured: true },
  { title: 'STEPS', value: (run) => `${run.completed_steps}/${run.total_steps}` },
  { title: 'CREATED', value: (run) => shortTime(run.created_at) },
  { title: 'WORKFLOW', value: (run) => run.workflow_name },
  { title: 'TARGET', value: (run) => run.target },
]

const itemsText = ({ first, last }: NonNullable<Run['loop_items']>): string =>
  first === last ? String(first) : `${first}-${last}`

/** Shown if a run has them; an earlier server sends no items. */
const RARE_RUN_COLUMNS: readonly Column<Run>[] = [
  { title: 'ITEMS', value: ({ loop_items: items }) => (items ? itemsText(items) : '') },
  { title: 'WAITING', value: (run) => run.waiting_reason },
]

export const listRunsCommand = (terminal: Terminal, name = 'list'): Command =>
  addQuery(
    addWorkflow(
      clientCommand(name, 'List runs, newest first.'),
      new Option('--workflow <name>', 'runs of this flow or module'),
    ),
    RUNS,
  ).action(async (options: CommandOptions & { readonly workflow?: string }) => {
    const query = { ...queryFrom<QueryOf<'/runs'>>(RUNS, options), workflow_name: options.workflow }
    const page = await connect(terminal, options).call(({ GET }) => GET('/runs', { params: { query } }))
    const rare = RARE_RUN_COLUMNS.filter(({ value }) => page.data.some((run) => value(run) !== ''))
    printPage(terminal, options, page, [...RUN_COLUMNS, ...rare])
    const isEmpty = page.data.length === 0 && Object.values(query).every((value) => value === undefined)
    if (isEmpty && !wantsJson(options))
      printLine(terminal, 'no runs yet; scan this machine: scanfarm run -f baseline -t 127.0.0.1 --wait')
  })

/** Of a script its beginning: -o json has all of it. */
const COMMAND_LETTERS = 120

const STEP_COLUMNS: readonly Column<Step>[] = [
  { title: 'STEP', value: (step) => step.step_name },
  { title: 'TYPE', value: (step) => step.step_type },
  { title: 'STATUS', value: (step) => step.status, coloured: true },
  { title: 'CODE', value: (step) => step.exit_code },
  { title: 'MS', value: (step) => step.duration_ms },
  { title: 'COMMAND', value: (step) => step.error_message || cut(step.command, COMMAND_LETTERS) },
]
const MODULE: Column<Step> = { title: 'MODULE', value: (step) => step.module }

export const showRunCommand = (terminal: Terminal): Command =>
  clientCommand('show', 'Show one run in full.')
    .argument('<run>', 'number or uuid', idArgument)
    .action(async (id: string, options: ClientOptions) => {
      const params = { path: { id } }
      const { data } = await connect(terminal, options).call(({ GET }) => GET('/runs/{id}', { params }))
      if (wantsJson(options)) printJson(terminal, data)
      else
        printFields(terminal, {
          ...data,
          outcome_reasons: data.outcome_reasons.join('; '),
          tools: data.tools.map(({ name, version }) => `${name} ${version}`),
        })
    })

export const stepsCommand = (terminal: Terminal): Command =>
  clientCommand('steps', 'List the steps of a run.')
    .argument('<run>', 'number or uuid', idArgument)
    .action(async (id: string, options: ClientOptions) => {
      const page = await connect(terminal, options).all('/runs/{id}/steps', { params: { path: { id } } })
      const isFlow = page.data.some(({ module }) => module !== '')
      printPage(terminal, options, page, isFlow ? [MODULE, ...STEP_COLUMNS] : STEP_COLUMNS)
    })

/** How a worker keeps to scopes. */
export const scopesOf = ({ enforcement_gap: gap }: Pick<Worker, 'enforcement_gap'>): string =>
  gap === '' ? 'enforced' : gap === null ? '' : 'checked'

const WORKER_COLUMNS: readonly Column<Worker>[] = [
  { title: 'NAME', value: (worker) => worker.name },
  { title: 'KIND', value: (worker) => worker.kind },
  { title: 'STATUS', value: (worker) => worker.status, coloured: true },
  { title: 'SLOTS', value: (worker) => `${worker.busy_slots}/${worker.slots}` },
  { title: 'SCOPES', value: scopesOf },
  { title: 'HEARTBEAT', value: (worker) => shortTime(worker.last_heartbeat) },
  { title: 'ID', value: (worker) => worker.id },
]

export const listWorkersCommand = (terminal: Terminal, name = 'list'): Command =>
  clientCommand(name, 'List the workers and the local slots of servers.').action(
    async (options: ClientOptions) => {
      printPage(
        terminal,
        options,
        await connect(terminal, options).call(({ GET }) => GET('/workers')),
        WORKER_COLUMNS,
      )
    },
  )

interface WorkflowRow {
  readonly name: string
  readonly kind: string
  readonly valid: boolean
  readonly source: string
  readonly description: string
}

const WORKFLOW_COLUMNS: readonly Column<WorkflowRow>[] = [
  { title: 'NAME', value: (workflow) => workflow.name },
  { title: 'KIND', value: (workflow) => workflow.kind },
  { title: 'VALID', value: (workflow) => (workflow.valid ? 'yes' : 'no') },
  { title: 'DESCRIPTION', value: (workflow) => workflow.description },
]

const WORKFLOWS: QueryOptions = {
  kind: ['--kind <kind>', 'flow or module'],
  search: ['--search <text>', 'part of the name or the description'],
  ...PAGE,
}

export const listWorkflowsCommand = (terminal: Terminal, name = 'list'): Command =>
  addQuery(clientCommand(name, 'List the workflows that the server can start.'), WORKFLOWS).action(
    async (options: CommandOptions) => {
      const query = queryFrom<QueryOf<'/workflows'>>(WORKFLOWS, options)
      const page = await connect(terminal, options).call(({ GET }) =>
        GET('/workflows', { params: { query } }),
      )
      printPage(terminal, options, page, WORKFLOW_COLUMNS)
    },
  )

export const ARTIFACT_COLUMNS: readonly Column<Artifact>[] = [
  { title: 'ID', value: (artifact) => artifact.id },
  { title: 'TYPE', value: (artifact) => artifact.artifact_type },
  { title: 'CONTENT', value: (artifact) => artifact.content_type },
  { title: 'BYTES', value: (artifact) => artifact.size_bytes },
  { title: 'NAME', value: (artifact) => artifact.name },
]

export const listArtifacts = (terminal: Terminal, options: ClientOptions, page: Page<Artifact>): void =>
  printPage(terminal, options, page, ARTIFACT_COLUMNS)
