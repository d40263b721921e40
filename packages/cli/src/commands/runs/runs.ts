import type { Run, Step } from '@scanfarm/contracts'
import type { QueryOf } from '../../client/api.ts'
import { inColumns, PAGE } from '../../client/page.ts'
import { cut, printFields, printTable, shortTime, type Column } from '../../client/table.ts'
import { dataOf, verb, type Id } from '../../client/verb.ts'
import { listingNoun } from '../../noun.ts'
import { flowOrModule } from '../../options.ts'
import { printLine } from '../../terminal.ts'
import { artifactsCommand } from './artifacts.ts'
import { cancelCommand, duplicateCommand, retryCommand, RUN, startCommand } from './change-runs.ts'
import { logsCommand } from './logs.ts'

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

const listCommand = verb('list', 'List runs, newest first.', {
  fields: {
    workflow_name: ['--workflow <name>', 'runs of this flow or module', flowOrModule],
    ...PAGE,
    status: ['--status <status>', 'pending, queued, running, completed, failed or cancelled'],
    outcome: [
      '--outcome <outcomes>',
      'outcomes of ended runs, separated by commas: clean, partial, nothing_done',
    ],
    target: ['--target <target>', 'runs on this target'],
    priority: ['--priority <priority>', 'low, normal, high or critical'],
    job_id: ['--job <id>', 'runs of this job'],
    parent: [
      '--parent <run>',
      'runs that execute items of loops of this run, which are not listed otherwise',
    ],
    sort: [
      '--sort <field>',
      'created, target, workflow, workspace, status, outcome or took; with - in reverse',
    ],
  },
  call: ({ GET }, query: QueryOf<'/runs'>) => GET('/runs', { params: { query } }),
  print(terminal, page, query) {
    const rare = RARE_RUN_COLUMNS.filter(({ value }) => page.data.some((run) => value(run) !== ''))
    inColumns([...RUN_COLUMNS, ...rare])(terminal, page)
    if (page.data.length === 0 && Object.keys(query).length === 0)
      printLine(terminal, 'no runs yet; scan this machine: scanfarm run -f baseline -t 127.0.0.1 --wait')
  },
})

export const showRunCommand = verb('show', 'Show one run in full.', {
  fields: RUN,
  call: ({ GET }, path: Id) => dataOf(GET('/runs/{id}', { params: { path } })),
  print: (terminal, run) =>
    printFields(terminal, {
      ...run,
      outcome_reasons: run.outcome_reasons.join('; '),
      tools: run.tools.map(({ name, version }) => `${name} ${version}`),
    }),
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

export const stepsCommand = verb('steps', 'List the steps of a run.', {
  fields: RUN,
  async call({ list }, path: Id) {
    const steps = list('/runs/{id}/steps', { params: { path } })
    return { data: { data: await Array.fromAsync(steps) } }
  },
  print(terminal, { data }) {
    const isFlow = data.some(({ module }) => module !== '')
    printTable(terminal, isFlow ? [MODULE, ...STEP_COLUMNS] : STEP_COLUMNS, data)
  },
})

export const runsCommand = listingNoun('runs', listCommand, [
  showRunCommand,
  cancelCommand,
  duplicateCommand,
  retryCommand,
  startCommand,
  stepsCommand,
  logsCommand,
  artifactsCommand,
])
