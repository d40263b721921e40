import type { components } from '@scanfarm/client'
import { PRIORITIES, type JobStatus, type Priority } from '@scanfarm/contracts'
import type { Command } from 'commander'
import type { QueryOf } from '../../client/api.ts'
import { checkWork, WAIT_DESCRIPTION } from '../../client/check-work.ts'
import { clientCommand, connect, printAnswer, wantsJson, type ClientOptions } from '../../client/connect.ts'
import { addFields, fieldsOf, type CommandOptions, type FieldsOf } from '../../client/fields.ts'
import { progressLine } from '../../client/progress.ts'
import { printJson, printTable, shortTime, type Column } from '../../client/table.ts'
import { waitForJob } from '../../client/wait.ts'
import { verb } from '../../client/verb.ts'
import { flowOrModule, idArgument, wholeNumber } from '../../options.ts'
import { printLine, type Terminal } from '../../terminal.ts'
import { cancelCommand, FROM } from './change-runs.ts'

interface JobOptions extends ClientOptions, CommandOptions {
  readonly wait?: boolean
}

type JobSummary = components['schemas']['JobSummary']

const SHOWN_RUNS = 50

const printJob = (terminal: Terminal, job: JobStatus): void => {
  printLine(terminal, progressLine(job))
  printTable(
    terminal,
    [
      { title: 'STATUS', value: (run) => run.status, coloured: true },
      { title: 'OUTCOME', value: (run) => run.outcome, coloured: true },
      { title: 'RUN', value: (run) => run.run_uuid },
      { title: 'TARGET', value: (run) => run.target },
    ],
    job.runs.slice(0, SHOWN_RUNS),
  )
  if (job.runs.length > SHOWN_RUNS)
    printLine(terminal, `${SHOWN_RUNS} of ${job.runs.length}; all: scanfarm runs --job ${job.job_id}`)
}

const COLUMNS: readonly Column<JobSummary>[] = [
  { title: 'JOB', value: (job) => job.job_id },
  { title: 'STATUS', value: (job) => job.status, coloured: true },
  { title: 'OUTCOME', value: (job) => job.outcome, coloured: true },
  { title: 'RUNS', value: (job) => job.target_count },
  { title: 'FAILED', value: (job) => job.counts?.failed },
  { title: 'CREATED', value: (job) => shortTime(job.created_at) },
  { title: 'WORKFLOW', value: (job) => job.workflow_name },
]

const LISTED = {
  workflow: ['--workflow <name>', 'list only jobs of this flow or module', flowOrModule],
  status: [
    '--status <status>',
    'list only these',
    ['open', 'ended', 'completed', 'failed', 'cancelled', 'partial'],
  ],
  limit: ['--limit <count>', 'maximum number of jobs to list', wholeNumber],
  cursor: ['--cursor <cursor>', 'continue a list'],
  sort: [
    '--sort <field>',
    'created, workflow, outcome, targets, failed, priority, trigger or ended; with - in reverse',
  ],
} as const satisfies FieldsOf<QueryOf<'/jobs'>>

const listJobs = async (terminal: Terminal, options: JobOptions): Promise<void> => {
  const query = fieldsOf<QueryOf<'/jobs'>>(LISTED, options)
  const page = await connect(terminal, options).call(({ GET }) => GET('/jobs', { params: { query } }))
  printAnswer(terminal, options, page, ({ data, pagination }) => {
    printTable(terminal, COLUMNS, data)
    const { next_cursor: next } = pagination
    if (next !== undefined) printLine(terminal, `there are more; continue with --cursor ${next}`)
  })
}

const JOB = { job_id: ['<job>', 'id of the job', idArgument] } as const

interface JobId {
  readonly job_id: string
}

interface Retry extends JobId {
  readonly from?: string
  readonly statuses?: ('failed' | 'cancelled')[]
  readonly outcomes?: ('partial' | 'nothing_done')[]
}

const retryCommand = verb('retry', 'Repeat what failed or was cancelled, as a new job.', {
  fields: {
    ...JOB,
    statuses: ['--status <status...>', 'repeat runs with this status', ['failed', 'cancelled']],
    outcomes: ['--outcome <outcome...>', 'repeat runs with this outcome', ['partial', 'nothing_done']],
    ...FROM,
  },
  call: ({ POST }, { job_id, ...body }: Retry) =>
    POST('/jobs/{job_id}/retry', { params: { path: { job_id } }, body }),
})

const priorityCommand = verb('priority', 'Change the priority of the waiting runs of a job.', {
  fields: { ...JOB, priority: ['<priority>', 'the new priority', PRIORITIES] },
  call: ({ PATCH }, { job_id, ...body }: JobId & { readonly priority: Priority }) =>
    PATCH('/jobs/{job_id}', { params: { path: { job_id } }, body }),
})

const showJob = async (terminal: Terminal, job: string, options: JobOptions): Promise<void> => {
  const api = connect(terminal, options)
  if (!options.wait) {
    const params = { path: { job_id: job } }
    const shown = await api.call(({ GET }) => GET('/jobs/{job_id}', { params }))
    return printAnswer(terminal, options, shown, (it) => printJob(terminal, it))
  }
  const ended = await waitForJob(terminal, api, job)
  if (wantsJson(options)) printJson(terminal, ended)
  await checkWork(terminal, api, [ended])
}

const listCommand = (terminal: Terminal): Command =>
  addFields(clientCommand('list', 'List jobs, newest first.'), LISTED).action((options: JobOptions) =>
    listJobs(terminal, options),
  )

const showCommand = (terminal: Terminal): Command =>
  clientCommand('show', 'Show the runs that one request started.')
    .argument('<job>', 'id of the job', idArgument)
    .option('--wait', WAIT_DESCRIPTION)
    .action((job: string, options: JobOptions) => showJob(terminal, job, options))

export const jobCommand = (terminal: Terminal): Command =>
  addFields(clientCommand('job', 'List jobs, or show the runs that one request started.'), LISTED)
    .alias('jobs')
    // Options after the name of a subcommand belong to it.
    .enablePositionalOptions()
    .argument('[job]', 'id of the job; missing: list jobs, newest first', idArgument)
    .option('--wait', WAIT_DESCRIPTION)
    .addCommand(listCommand(terminal))
    .addCommand(showCommand(terminal))
    .addCommand(cancelCommand(terminal))
    .addCommand(retryCommand(terminal))
    .addCommand(priorityCommand(terminal))
    .action(async (job: string | undefined, options: JobOptions) => {
      if (job === undefined) await listJobs(terminal, options)
      else await showJob(terminal, job, options)
    })
