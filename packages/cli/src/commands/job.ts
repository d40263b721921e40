import type { JobStatus } from '@scanfarm/contracts'
import type { Command } from 'commander'
import { clientCommand, connect, wantsJson, type ClientOptions } from '../client/connect.ts'
import { progressLine } from '../client/progress.ts'
import { printJson, printTable } from '../client/table.ts'
import { waitForJob } from '../client/wait.ts'
import { idArgument } from '../options.ts'
import { printLine, type Terminal } from '../terminal.ts'
import { checkWork, WAIT_DESCRIPTION } from '../client/check-work.ts'

interface JobOptions extends ClientOptions {
  readonly wait?: boolean
}

const SHOWN_RUNS = 50

const printJob = (terminal: Terminal, options: JobOptions, job: JobStatus): void => {
  if (wantsJson(options)) return printJson(terminal, job)
  printLine(terminal, progressLine(job))
  printTable(
    terminal,
    [
      { title: 'STATUS', value: (run) => run.status },
      { title: 'OUTCOME', value: (run) => run.outcome },
      { title: 'RUN', value: (run) => run.run_uuid },
      { title: 'TARGET', value: (run) => run.target },
    ],
    job.runs.slice(0, SHOWN_RUNS),
  )
  if (job.runs.length > SHOWN_RUNS)
    printLine(terminal, `${SHOWN_RUNS} of ${job.runs.length}; all: scanfarm runs --job ${job.job_id}`)
}

export const jobCommand = (terminal: Terminal): Command =>
  clientCommand('job', 'Show the runs that one request started.')
    .alias('jobs')
    .argument('<job>', 'id of the job', idArgument)
    .option('--wait', WAIT_DESCRIPTION)
    .action(async (id: string, options: JobOptions) => {
      const api = connect(terminal, options)
      if (!options.wait)
        return printJob(terminal, options, await api.get<JobStatus>(`/jobs/${encodeURIComponent(id)}`))
      const job = await waitForJob(terminal, api, id)
      if (wantsJson(options)) printJson(terminal, job)
      await checkWork(terminal, api, [job])
    })
