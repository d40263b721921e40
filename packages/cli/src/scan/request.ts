import { basename } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { MISSING_TOOLS, PRIORITIES, type CreateRuns } from '@scanfarm/contracts'
import type { Api } from '../client/api.ts'
import type { ClientOptions } from '../client/connect.ts'
import { fieldsOf, type CommandOptions, type FieldsOf } from '../client/fields.ts'
import { readBlob } from '../client/files.ts'
import { CliError, EXIT } from '../exit.ts'
import type { Terminal } from '../terminal.ts'
import { wholeNumber } from '../options.ts'
import { localTarget } from './local-target.ts'
import { readParams } from './params.ts'
import { DELTA, refuseTargets, spaceOf, type ScanOptions } from './scan-options.ts'
import { readTargetLines, standardInput } from './target-lines.ts'

/** Options of `run` in addition to those of all scans, by the fields of `POST /runs`. */
export const REQUEST = {
  ...DELTA,
  priority: ['--priority <level>', 'order among queued runs', PRIORITIES],
  run_mode: [
    '--mode <mode>',
    'where to run; default distributed if a worker is connected or the server has no local slots, or else local',
    ['local', 'distributed', 'cloud'],
  ],
  runner_type: ['--runner <type>', 'where commands execute', ['host', 'docker', 'ssh']],
  docker_image: ['--image <image>', 'image of the docker runner'],
  docker_network: ['--docker-network <name>', 'network of the docker runner; host needs the role admin'],
  ssh_host: ['--ssh-host <host>', 'host of the ssh runner'],
  cloud_provider: ['--cloud-provider <name>', 'with --mode cloud: provider of the machines'],
  cloud_instances: ['--instances <count>', 'number of machines', wholeNumber],
  cloud_instance_type: ['--instance-type <type>', 'type of machine'],
  cloud_region: ['--region <region>', 'region of the machines'],
  cloud_use_spot: ['--spot', 'cheaper machines, which the provider may interrupt'],
  cloud_auto_destroy: ['--auto-destroy', 'destroy the machines after the last run'],
  cloud_reuse_infra: ['--reuse <id>', 'use the existing machines with this id (scanfarm cloud list)'],
  missing_tools: [
    '--missing-tools <what>',
    'if no live worker has the programs of distributed runs: wait for one, or fail; default: as the server is set',
    MISSING_TOOLS,
  ],
  scope: ['--scope <name>', 'scope that the runs keep to'],
  strict: ['--strict', 'refuse all targets if one is out of scope; default: the others run'],
  resume: [
    '--resume <what>',
    'what another attempt of a run takes over; default: as the workflow says',
    ['steps', 'none'],
  ],
} as const satisfies FieldsOf<CreateRuns>

export interface RunOptions extends ClientOptions, ScanOptions, CommandOptions {
  readonly wait?: boolean
}

/** The body of `POST /runs` without the workflow. */
export type Request = Omit<CreateRuns, 'flow' | 'module'> & { readonly empty_target?: boolean }

const MINUTE_MS = 60_000

const minutesOf = (ms: number | undefined): number | undefined => {
  if (ms === undefined) return undefined
  if (ms % MINUTE_MS === 0) return ms / MINUTE_MS
  throw new CliError(
    EXIT.usage,
    '--timeout must be whole minutes for a server, for example 90m or 2h; a number alone is seconds',
  )
}

/** Uploads a file and returns its path on the server. */
const upload = async (api: Api, name: string, content: Blob): Promise<string> =>
  (await api.upload<{ path: string }>('/upload-file', name, content)).path

const blobOf = async (terminal: Terminal, file: string): Promise<Blob> =>
  file === '-' ? new Blob([Uint8Array.from(await buffer(standardInput(terminal)))]) : await readBlob(file)

/** Targets of the command line. A file of the caller is uploaded, and workers download it. */
const named = async (
  terminal: Terminal,
  api: Api,
  { target = [], dryRun }: RunOptions,
): Promise<string[]> => {
  const targets: string[] = []
  for (const text of target) {
    const local = await localTarget(terminal, text)
    if (local?.kind !== 'file') {
      targets.push(text)
      continue
    }
    const content = await readBlob(local.path)
    if (content.size === 0) throw new CliError(EXIT.usage, `${text} is empty`)
    targets.push(dryRun === true ? text : await upload(api, basename(local.path), content))
  }
  return targets
}

const targetsOf = async (
  terminal: Terminal,
  api: Api,
  options: RunOptions,
): Promise<Pick<Request, 'target' | 'targets' | 'target_file' | 'empty_target'>> => {
  refuseTargets(options)
  if (options.emptyTarget === true) return { empty_target: true }
  const piped = options.target === undefined && terminal.in?.piped === true
  const file = options.targetFile ?? (piped ? '-' : undefined)
  if (options.target === undefined && file === undefined)
    throw new CliError(EXIT.usage, 'name the targets with -t (repeatable) or -T FILE, or use --empty-target')
  const targets = await named(terminal, api, options)
  if (file === undefined) return targets.length === 1 ? { target: targets[0] } : { targets }
  const lines = async () => await readTargetLines(terminal, file, options)
  if (options.dryRun === true) return { targets: [...targets, ...(await lines())] }
  const list =
    options.skipBad === true ? new Blob([(await lines()).join('\n')]) : await blobOf(terminal, file)
  const all = targets.length === 0 ? list : new Blob([`${targets.join('\n')}\n`, list])
  return { target_file: await upload(api, file === '-' ? 'targets.txt' : basename(file), all) }
}

/**
 * The mode of a request without `--mode`: `distributed` if the server has workers, or no local slots. Otherwise
 * undefined for the default of the API, `local`.
 */
const defaultMode = async (api: Api): Promise<Request['run_mode']> => {
  const { run_modes: modes } = await api.call(({ GET }) => GET('/server-info'))
  if (!modes.includes('distributed')) return undefined
  if (!modes.includes('local')) return 'distributed'
  const { data } = await api.call(({ GET }) => GET('/workers'))
  return data.some(({ kind, status }) => kind === 'worker' && status !== 'lost') ? 'distributed' : undefined
}

export const requestOf = async (terminal: Terminal, api: Api, options: RunOptions): Promise<Request> => {
  const timeout = minutesOf(options.timeout)
  const params = await readParams(options)
  const { run_mode: mode, ...given } = fieldsOf<Request>(REQUEST, options)
  return {
    ...(await targetsOf(terminal, api, options)),
    ...(Object.keys(params).length === 0 ? {} : { params }),
    run_mode: mode ?? (await defaultMode(api)),
    timeout,
    concurrency: options.concurrency,
    workspace: spaceOf(options),
    ...given,
  }
}
