import { plural, type JobStatus, type RunsCreated } from '@scanfarm/contracts'
import type { Command } from 'commander'
import { checkWork, WAIT_DESCRIPTION } from '../../client/check-work.ts'
import { clientCommand, connect, printWarnings, wantsJson } from '../../client/connect.ts'
import { addFields } from '../../client/fields.ts'
import { printJson } from '../../client/table.ts'
import { waitForJob } from '../../client/wait.ts'
import { CliError, EXIT } from '../../exit.ts'
import { checkRequests } from '../../scan/check-requests.ts'
import { REQUEST, requestOf, type RunOptions } from '../../scan/request.ts'
import { addScanOptions, chosenWorkflows } from '../../scan/scan-options.ts'
import { printLine, type Terminal } from '../../terminal.ts'
import { showRunCommand } from './runs.ts'

const printCreated = (terminal: Terminal, options: RunOptions, created: RunsCreated): void => {
  if (wantsJson(options)) return printJson(terminal, created)
  printLine(terminal, `${created.message}`)
  if (created.infra_id !== undefined)
    printLine(
      terminal,
      `${plural(created.cloud_instances ?? 0, 'machine')} at ${created.cloud_provider}; watch: scanfarm cloud show ${created.infra_id}`,
    )
  printLine(
    terminal,
    `job ${created.job_id}: ${plural(created.target_count, 'run')}; watch: scanfarm job ${created.job_id} --wait`,
  )
}

const start = async (terminal: Terminal, options: RunOptions): Promise<void> => {
  const choices = chosenWorkflows(options)
  if (choices.length === 0)
    throw new CliError(EXIT.usage, 'name the workflow: either a flow with -f or a module with -m')
  const dryRun = options.dryRun === true
  if (choices.length > 1 && options.wait !== true && !dryRun)
    throw new CliError(
      EXIT.usage,
      'modules run one after the other: add --wait, so that each starts after the previous one has ended',
    )
  const api = connect(terminal, options)
  const common = await requestOf(terminal, api, options)
  const requests = choices.map(({ name, kind }) => ({ [kind ?? 'module']: name, ...common }))
  if (dryRun) return await checkRequests(terminal, api, choices, requests)
  const jobs: JobStatus[] = []
  for (const request of requests) {
    const created = await api.call(({ POST }) => POST('/runs', { body: request }))
    printRefused(terminal, created)
    if (created.left_out_count !== undefined)
      terminal.err.write(`scanfarm: left out, since nothing changed: ${created.left_out_count}\n`)
    printWarnings(terminal, created.warnings)
    if (options.wait !== true) return printCreated(terminal, options, created)
    jobs.push(await waitForJob(terminal, api, created.job_id, created.infra_id))
  }
  if (wantsJson(options)) printJson(terminal, jobs.length === 1 ? jobs[0] : jobs)
  await checkWork(terminal, api, jobs)
}

const PRINTED_REFUSALS = 20

const printRefused = (terminal: Terminal, { refused = [], refused_count: count = 0 }: RunsCreated): void => {
  for (const { target, reason } of refused.slice(0, PRINTED_REFUSALS))
    terminal.err.write(`scanfarm: refused ${target}: ${reason}\n`)
  if (count > PRINTED_REFUSALS)
    terminal.err.write(`scanfarm: and ${count - PRINTED_REFUSALS} more targets refused\n`)
}

export const runCommand = (terminal: Terminal): Command =>
  addFields(
    addScanOptions(
      clientCommand('run', 'Start a workflow on targets.').usage(
        '(-f FLOW | -m MODULE…) (-t TARGET… | -T FILE) [options]',
      ),
    ),
    REQUEST,
  )
    .option('--dry-run', 'start nothing; check the workflow and the targets, and print the request')
    .option('--wait', WAIT_DESCRIPTION)
    .action((options: RunOptions) => start(terminal, options))
    .addCommand(showRunCommand(terminal))
