import { plural, type JobStatus, type RunsCreated } from '@scanfarm/contracts'
import { type Command, Option } from 'commander'
import { printWarnings } from '../../client/answer.ts'
import { clientCommand, connect, wantsJson } from '../../client/connect.ts'
import { printJson } from '../../client/table.ts'
import { checkWork, WAIT_DESCRIPTION } from '../../client/check-work.ts'
import { waitForJob } from '../../client/wait.ts'
import { CliError, EXIT } from '../../exit.ts'
import { addDelta, wholeNumber } from '../../options.ts'
import { checkRequests } from '../../scan/check-requests.ts'
import { requestOf, type RunOptions } from '../../scan/request.ts'
import { addScanOptions, chosenWorkflows } from '../../scan/scan-options.ts'
import { printLine, type Terminal } from '../../terminal.ts'
import { showRunCommand } from '../lists.ts'

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
  addDelta(
    addScanOptions(
      clientCommand('run', 'Start a workflow on targets.').usage(
        '(-f FLOW | -m MODULE…) (-t TARGET… | -T FILE) [options]',
      ),
    ),
  )
    .addOption(
      new Option('--priority <level>', 'order among queued runs').choices([
        'low',
        'normal',
        'high',
        'critical',
      ]),
    )
    .addOption(
      new Option(
        '--mode <mode>',
        'where to run; default distributed if a worker is connected or the server has no local slots, or else local',
      ).choices(['local', 'distributed', 'cloud']),
    )
    .addOption(new Option('--runner <type>', 'where commands execute').choices(['host', 'docker', 'ssh']))
    .option('--image <image>', 'image of the docker runner')
    .option('--docker-network <name>', 'network of the docker runner; host needs the role admin')
    .option('--ssh-host <host>', 'host of the ssh runner')
    .option('--cloud-provider <name>', 'with --mode cloud: provider of the machines')
    .option('--instances <count>', 'number of machines', wholeNumber)
    .option('--instance-type <type>', 'type of machine')
    .option('--region <region>', 'region of the machines')
    .option('--spot', 'cheaper machines, which the provider may interrupt')
    .option('--auto-destroy', 'destroy the machines after the last run')
    .option('--reuse <id>', 'use the existing machines with this id (scanfarm cloud list)')
    .addOption(
      new Option(
        '--missing-tools <what>',
        'if no live worker has the programs of distributed runs: wait for one, or fail; default: as the server is set',
      ).choices(['wait', 'fail']),
    )
    .option('--scope <name>', 'scope that the runs keep to')
    .option('--strict', 'refuse all targets if one is out of scope; default: the others run')
    .addOption(
      new Option(
        '--resume <what>',
        'what another attempt of a run takes over; default: as the workflow says',
      ).choices(['steps', 'none']),
    )
    .option('--dry-run', 'start nothing; check the workflow and the targets, and print the request')
    .option('--wait', WAIT_DESCRIPTION)
    .action((options: RunOptions) => start(terminal, options))
    .addCommand(showRunCommand(terminal))
