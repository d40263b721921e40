import type { components } from '@scanfarm/client'
import { PRIORITIES, type JobStatus, type Priority } from '@scanfarm/contracts'
import { Argument, Option, type Command } from 'commander'
import type { QueryOf } from '../../client/api.ts'
import { printAnswer } from '../../client/answer.ts'
import { clientCommand, connect, wantsJson, type ClientOptions } from '../../client/connect.ts'
import { progressLine } from '../../client/progress.ts'
import { printJson, printTable, shortTime, type Column } from '../../client/table.ts'
import { waitForJob } from '../../client/wait.ts'
import { addWorkflow, idArgument, wholeNumber } from '../../options.ts'
import { printLine, type Terminal } from '../../terminal.ts'
import { checkWork, WAIT_DESCRIPTION } from '../../client/check-work.ts'
import { cancelCommand, fromOption } from './change-runs.ts'

interface JobOptions
  extends ClientOptions, Pick<QueryOf<'/jobs'>, 'status' | 'workflow' | 'limit' | 'cursor' | 'sort'> {
  readonly wait?: boolean
}

type JobSummary = components['schemas']['JobSummary']

const SHOWN_RUNS = 50

const printJob = (terminal: Terminal, options: JobOptions, job: JobStatus): void => {
  if (wantsJson(options)) return printJson(terminal, job)
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

const listJobs = async (
  terminal: Terminal,
  { status, workflow, limit, cursor, sort, ...options }: JobOptions,
): Promise<void> => {
  const query = { status, workflow, limit, cursor, sort }
  const page = await connect(terminal, options).call(({ GET }) => GET('/jobs', { params: { query } }))
  if (wantsJson(options)) return printJson(terminal, page)
  printTable(terminal, COLUMNS, page.data)
  const { next_cursor: next } = page.pagination
  if (next !== undefined) printLine(terminal, `there are more; continue with --cursor ${next}`)
}

const paramsOf = (id: string) => ({ path: { job_id: id } })

interface RetryOptions extends ClientOptions {
  readonly from?: string
  readonly status?: ('failed' | 'cancelled')[]
  readonly outcome?: ('partial' | 'nothing_done')[]
}

const retryCommand = (terminal: Terminal): Command =>
  clientCommand('retry', 'Repeat what failed or was cancelled, as a new job.')
    .argument('<job>', 'id of the job', idArgument)
    .addOption(
      new Option('--status <status...>', 'repeat runs with this status').choices(['failed', 'cancelled']),
    )
    .addOption(
      new Option('--outcome <outcome...>', 'repeat runs with this outcome').choices([
        'partial',
        'nothing_done',
      ]),
    )
    .addOption(fromOption())
    .action(async (id: string, { status: statuses, outcome: outcomes, from, ...options }: RetryOptions) => {
      const api = connect(terminal, options)
      const init = { params: paramsOf(id), body: { statuses, outcomes, from } }
      printAnswer(terminal, options, await api.call(({ POST }) => POST('/jobs/{job_id}/retry', init)))
    })

const priorityCommand = (terminal: Terminal): Command =>
  clientCommand('priority', 'Change the priority of the waiting runs of a job.')
    .argument('<job>', 'id of the job', idArgument)
    .addArgument(new Argument('<priority>', 'the new priority').choices(PRIORITIES))
    .action(async (id: string, priority: Priority, options: ClientOptions) => {
      const api = connect(terminal, options)
      const init = { params: paramsOf(id), body: { priority } }
      printAnswer(terminal, options, await api.call(({ PATCH }) => PATCH('/jobs/{job_id}', init)))
    })

const listing = (command: Command): Command =>
  addWorkflow(command, new Option('--workflow <name>', 'list only jobs of this flow or module'))
    .addOption(
      new Option('--status <status>', 'list only these').choices([
        'open',
        'ended',
        'completed',
        'failed',
        'cancelled',
        'partial',
      ]),
    )
    .option('--limit <count>', 'maximum number of jobs to list', wholeNumber)
    .option('--cursor <cursor>', 'continue a list')
    .option(
      '--sort <field>',
      'created, workflow, outcome, targets, failed, priority, trigger or ended; with - in reverse',
    )

const listCommand = (terminal: Terminal): Command =>
  listing(clientCommand('list', 'List jobs, newest first.')).action(async (options: JobOptions) => {
    await listJobs(terminal, options)
  })

const showJob = async (terminal: Terminal, id: string, options: JobOptions): Promise<void> => {
  const api = connect(terminal, options)
  if (!options.wait) {
    const params = paramsOf(id)
    return printJob(terminal, options, await api.call(({ GET }) => GET('/jobs/{job_id}', { params })))
  }
  const job = await waitForJob(terminal, api, id)
  if (wantsJson(options)) printJson(terminal, job)
  await checkWork(terminal, api, [job])
}

const showCommand = (terminal: Terminal): Command =>
  clientCommand('show', 'Show the runs that one request started.')
    .argument('<job>', 'id of the job', idArgument)
    .option('--wait', WAIT_DESCRIPTION)
    .action(async (id: string, options: JobOptions) => {
      await showJob(terminal, id, options)
    })

export const jobCommand = (terminal: Terminal): Command =>
  listing(clientCommand('job', 'List jobs, or show the runs that one request started.'))
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
    .action(async (id: string | undefined, options: JobOptions) => {
      if (id === undefined) await listJobs(terminal, options)
      else await showJob(terminal, id, options)
    })
