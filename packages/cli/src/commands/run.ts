import { basename } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { CreateRuns, JobStatus, RunDetail, RunsCreated } from '@scanfarm/contracts'
import { type Command, Option } from 'commander'
import type { Api } from '../client/api.ts'
import { clientCommand, connect, wantsJson, type ClientOptions } from '../client/connect.ts'
import { readBlob } from '../client/read-blob.ts'
import { printFields, printJson } from '../client/table.ts'
import { waitForJob } from '../client/wait-for-job.ts'
import { CliError, EXIT } from '../exit.ts'
import { collect, collectParam, wholeNumber } from '../options.ts'
import { printLine, type Terminal } from '../terminal.ts'

interface RunOptions extends ClientOptions {
  readonly flow?: string
  readonly module?: string
  readonly target?: string[]
  readonly targetFile?: string
  readonly param?: Record<string, string>
  readonly priority?: CreateRuns['priority']
  readonly mode?: CreateRuns['run_mode']
  readonly timeout?: string
  readonly concurrency?: number
  readonly runner?: CreateRuns['runner_type']
  readonly image?: string
  readonly sshHost?: string
  readonly workspace?: string
  readonly cloudProvider?: CreateRuns['cloud_provider']
  readonly instances?: number
  readonly instanceType?: string
  readonly region?: string
  readonly spot?: boolean
  readonly autoDestroy?: boolean
  readonly reuse?: string
  readonly wait?: boolean
}

const readTargets = async (file: string): Promise<Blob> =>
  file === '-' ? new Blob([Uint8Array.from(await buffer(process.stdin))]) : await readBlob(file)

/** Sends the file to the server, which reads the targets from there. */
const uploadTargets = async (api: Api, file: string): Promise<string> => {
  const content = await readTargets(file)
  const name = file === '-' ? 'targets.txt' : basename(file)
  return (await api.upload<{ path: string }>('/upload-file', name, content)).path
}

const targetsOf = async (api: Api, { target, targetFile }: RunOptions): Promise<CreateRuns> => {
  if ((target === undefined) === (targetFile === undefined))
    throw new CliError(
      EXIT.usage,
      'name the targets: either with -t (which may be given again) or with -T FILE',
    )
  if (targetFile !== undefined) return { target_file: await uploadTargets(api, targetFile) }
  return target?.length === 1 ? { target: target[0] } : { targets: target }
}

const requestOf = async (api: Api, options: RunOptions): Promise<CreateRuns> => {
  if ((options.flow === undefined) === (options.module === undefined))
    throw new CliError(EXIT.usage, 'name the workflow: either a flow with -f or a module with -m')
  return {
    flow: options.flow,
    module: options.module,
    ...(await targetsOf(api, options)),
    params: options.param,
    priority: options.priority,
    run_mode: options.mode,
    timeout: options.timeout,
    concurrency: options.concurrency,
    runner_type: options.runner,
    docker_image: options.image,
    ssh_host: options.sshHost,
    workspace: options.workspace,
    cloud_provider: options.cloudProvider,
    cloud_instances: options.instances,
    cloud_instance_type: options.instanceType,
    cloud_region: options.region,
    cloud_use_spot: options.spot,
    cloud_auto_destroy: options.autoDestroy,
    cloud_reuse_infra: options.reuse,
  }
}

/** A run that failed or was cancelled makes the waiting command fail. */
export const checkCompleted = (job: JobStatus): void => {
  const lost = job.failed + job.cancelled
  if (lost > 0)
    throw new CliError(EXIT.failed, `${lost} of ${job.total_runs} runs did not complete (job ${job.job_id})`)
}

const start = async (terminal: Terminal, options: RunOptions): Promise<void> => {
  const api = connect(terminal, options)
  const created = await api.post<RunsCreated>('/runs', await requestOf(api, options))
  if (!options.wait) {
    if (wantsJson(options)) return printJson(terminal, created)
    printLine(terminal, `${created.message}`)
    if (created.infra_id !== undefined)
      printLine(
        terminal,
        `${created.cloud_instances} machines at ${created.cloud_provider}; watch: scanfarm cloud show ${created.infra_id}`,
      )
    return printLine(
      terminal,
      `job ${created.job_id}: ${created.target_count} runs; watch: scanfarm job ${created.job_id} --wait`,
    )
  }
  const job = await waitForJob(terminal, api, created.job_id, created.infra_id)
  if (wantsJson(options)) printJson(terminal, job)
  checkCompleted(job)
}

const showCommand = (terminal: Terminal): Command =>
  clientCommand('show', 'Show one run in full.')
    .argument('<run>', 'number or uuid')
    .action(async (id: string, options: ClientOptions) => {
      const { data } = await connect(terminal, options).get<{ data: RunDetail }>(
        `/runs/${encodeURIComponent(id)}`,
      )
      if (wantsJson(options)) printJson(terminal, data)
      else printFields(terminal, data)
    })

export const runCommand = (terminal: Terminal): Command =>
  clientCommand('run', 'Start a workflow on targets.')
    .usage('(-f FLOW | -m MODULE) (-t TARGET… | -T FILE) [options]')
    .option('-f, --flow <name>', 'flow to run')
    .option('-m, --module <name>', 'module to run')
    .option('-t, --target <target>', 'target; may be given again', collect)
    .option('-T, --target-file <file>', 'file of targets, a line each; - reads them from standard input')
    .option('-p, --param <name=value>', 'parameter of the workflow; may be given again', collectParam)
    .addOption(
      new Option('--priority <level>', 'order among queued runs').choices([
        'low',
        'normal',
        'high',
        'critical',
      ]),
    )
    .addOption(new Option('--mode <mode>', 'where to run').choices(['local', 'distributed', 'cloud']))
    .option('--timeout <minutes>', 'limit for each run')
    .option('--concurrency <count>', 'targets at once', wholeNumber)
    .addOption(new Option('--runner <type>', 'where commands execute').choices(['host', 'docker', 'ssh']))
    .option('--image <image>', 'image of the docker runner')
    .option('--ssh-host <host>', 'host of the ssh runner')
    .option('--workspace <name>', 'workspace of the runs')
    .option('--cloud-provider <name>', 'with --mode cloud: where machines are made')
    .option('--instances <count>', 'machines to make', wholeNumber)
    .option('--instance-type <type>', 'type of machine')
    .option('--region <region>', 'where they are made')
    .option('--spot', 'cheaper machines, which the provider may take away')
    .option('--auto-destroy', 'destroy the machines after the last run')
    .option('--reuse <id>', 'use machines that are there: id of scanfarm cloud list')
    .option('--wait', 'wait until all runs have ended; exit code 1 when one did not complete')
    .action((options: RunOptions) => start(terminal, options))
    .addCommand(showCommand(terminal))
