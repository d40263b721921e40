import { basename } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { CreateRuns, MissingTools } from '@scanfarm/contracts'
import type { Api } from '../client/api.ts'
import type { ClientOptions } from '../client/connect.ts'
import { readBlob } from '../client/files.ts'
import { CliError, EXIT } from '../exit.ts'
import type { Terminal } from '../terminal.ts'
import { deltaFields, type DeltaOptions } from '../options.ts'
import { localTarget } from './local-target.ts'
import { readParams } from './params.ts'
import { refuseTargets, spaceOf, type ScanOptions } from './scan-options.ts'
import { readTargetLines, standardInput } from './target-lines.ts'

/** Options of `run` in addition to those of all scans. */
export interface RunOptions extends ClientOptions, ScanOptions, DeltaOptions {
  readonly priority?: CreateRuns['priority']
  readonly mode?: CreateRuns['run_mode']
  readonly resume?: CreateRuns['resume']
  readonly runner?: CreateRuns['runner_type']
  readonly image?: string
  readonly dockerNetwork?: string
  readonly sshHost?: string
  readonly cloudProvider?: CreateRuns['cloud_provider']
  readonly instances?: number
  readonly instanceType?: string
  readonly region?: string
  readonly spot?: boolean
  readonly autoDestroy?: boolean
  readonly reuse?: string
  readonly wait?: boolean
  readonly missingTools?: MissingTools
  readonly scope?: string
  readonly strict?: boolean
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
  return {
    ...(await targetsOf(terminal, api, options)),
    ...(Object.keys(params).length === 0 ? {} : { params }),
    priority: options.priority,
    run_mode: options.mode ?? (await defaultMode(api)),
    timeout,
    concurrency: options.concurrency,
    runner_type: options.runner,
    docker_image: options.image,
    docker_network: options.dockerNetwork,
    ssh_host: options.sshHost,
    workspace: spaceOf(options),
    cloud_provider: options.cloudProvider,
    cloud_instances: options.instances,
    cloud_instance_type: options.instanceType,
    cloud_region: options.region,
    cloud_use_spot: options.spot,
    cloud_auto_destroy: options.autoDestroy,
    cloud_reuse_infra: options.reuse,
    missing_tools: options.missingTools,
    scope: options.scope,
    strict: options.strict,
    resume: options.resume,
    ...deltaFields(options),
  }
}
