import { createHash } from 'node:crypto'
import type Docker from 'dockerode'
import type { ContainerCreateOptions, ContainerInspectInfo } from 'dockerode'
import { RunnerUnavailableError } from '@scanfarm/contracts'
import { errorText } from '@scanfarm/platform'
import { engineMessage, statusOf } from '@scanfarm/runners'
import { CloudError, type Machine, type MachineLabels, type MachineRequest } from '../../provider.ts'
import { problemOfStatus, unreachable } from '../errors.ts'
import { BOOT_COMMAND } from './boot-files.ts'

/** Limits of a machine of one type. */
interface Size {
  readonly cpus: number
  readonly memoryBytes: number
}

const MIB = 2 ** 20
const SIZES: ReadonlyMap<string, Size> = new Map([
  ['small', { cpus: 1, memoryBytes: 512 * MIB }],
  ['medium', { cpus: 2, memoryBytes: 1024 * MIB }],
  ['large', { cpus: 4, memoryBytes: 2048 * MIB }],
])
export const DEFAULT_TYPE = 'small'
export const REGION = 'local'
const PROCESSES = 1024
const NANO = 1e9
const SSH_PORT = 22

const LABELS = {
  farm: 'scanfarm.farm',
  infra: 'scanfarm.infra',
  name: 'scanfarm.name',
  expires: 'scanfarm.expires',
} as const
/** For sshd and the setup commands. No program in the container can get more. */
const CAPABILITIES = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'SETGID', 'SETUID', 'SYS_CHROOT']

export const filterOf = (facts: Partial<Record<keyof typeof LABELS, string>>): Record<string, string[]> => ({
  label: [LABELS.name, ...Object.entries(facts).map(([key, value]) => `scanfarm.${key}=${value}`)],
})

/** Names of containers are unique, so that a repeated create makes one machine. Farms have different names. */
export const containerName = (farm: string, name: string): string =>
  `scanfarm-${createHash('sha256').update(farm).digest('hex').slice(0, 12)}-${name}`

export interface Engine {
  readonly imageId: string
  readonly network: string
  readonly cpus: number
  /** The addresses of containers are not reachable: sshd is published at a port of the loopback address. */
  readonly publish: boolean
}

export const isKind = (region: string, type: string): boolean => region === REGION && SIZES.has(type)

/** Refuses an unknown type or region. */
export function checkKind({ type, region }: MachineRequest): Size {
  const size = SIZES.get(type)
  if (size === undefined)
    throw new CloudError(
      'refused',
      `the local provider has no type ${type}: expected one of ${[...SIZES.keys()].join(', ')}`,
    )
  if (region !== REGION)
    throw new CloudError('refused', `the local provider has no region ${region}: expected ${REGION}`)
  return size
}

export function containerOptions(request: MachineRequest, engine: Engine): ContainerCreateOptions {
  const size = checkKind(request)
  const { farm, infra, expires } = request.labels
  return {
    name: containerName(farm, request.name),
    Hostname: request.name,
    Image: engine.imageId,
    Entrypoint: BOOT_COMMAND,
    Cmd: [],
    User: '0:0',
    WorkingDir: '/',
    Labels: {
      [LABELS.farm]: farm,
      [LABELS.infra]: infra,
      [LABELS.name]: request.name,
      [LABELS.expires]: String(expires),
    },
    ExposedPorts: { [`${SSH_PORT}/tcp`]: {} },
    HostConfig: {
      Init: true,
      NetworkMode: engine.network,
      PortBindings: engine.publish
        ? { [`${SSH_PORT}/tcp`]: [{ HostIp: '127.0.0.1', HostPort: '' }] }
        : undefined,
      Memory: size.memoryBytes,
      MemorySwap: size.memoryBytes,
      NanoCpus: Math.floor(Math.min(size.cpus, engine.cpus) * NANO),
      PidsLimit: PROCESSES,
      CapDrop: ['ALL'],
      CapAdd: CAPABILITIES,
      SecurityOpt: ['no-new-privileges:true'],
      LogConfig: { Type: 'json-file', Config: { 'max-size': '1m', 'max-file': '1' } },
    },
  }
}

/** Containers in other states have ended or were never started; they exist until they are destroyed. */
const STATES: Readonly<Record<string, Machine['state']>> = {
  restarting: 'starting',
  running: 'running',
}

export function machineOf(container: ContainerInspectInfo): Machine {
  const { Status: status, ExitCode: code, Error: error } = container.State
  const state = STATES[status] ?? 'stopping'
  const published = container.NetworkSettings.Ports[`${SSH_PORT}/tcp`]?.[0]
  const own = Object.values(container.NetworkSettings.Networks)[0]?.IPAddress
  const address = published === undefined ? own : published.HostIp
  return {
    id: container.Id,
    name: container.Config.Labels[LABELS.name] ?? '',
    state,
    address: state === 'running' && address !== '' ? address : undefined,
    port: published === undefined ? SSH_PORT : Number(published.HostPort),
    labels: labelsOf(container.Config.Labels),
    message: state === 'stopping' ? `the container is ${status} (code ${code}) ${error}`.trim() : error,
  }
}

function labelsOf(labels: Readonly<Record<string, string>>): Partial<MachineLabels> {
  const expires = Number(labels[LABELS.expires])
  return {
    farm: labels[LABELS.farm],
    infra: labels[LABELS.infra],
    expires: Number.isSafeInteger(expires) ? expires : undefined,
  }
}

const LINES = 3
const HEADER_BYTES = 8
const MOST_CHARACTERS = 500

/** `: …` with the last lines of the container's output, or `''`. */
export async function finalConsoleOutput(
  container: Docker.Container,
  abortSignal: AbortSignal,
): Promise<string> {
  const options = { stdout: true, stderr: true, tail: LINES, abortSignal }
  const bytes = await container.logs(options).catch(() => Buffer.alloc(0))
  const text = unframe(bytes)
    .trim()
    .replaceAll(/\s*\n\s*/g, '; ')
  return text === '' ? '' : `: ${text.slice(-MOST_CHARACTERS)}`
}

/** The engine prefixes each frame of output with a header that has its length. */
function unframe(bytes: Buffer): string {
  const pieces: string[] = []
  for (let at = 0; at + HEADER_BYTES <= bytes.length;) {
    const end = at + HEADER_BYTES + bytes.readUInt32BE(at + 4)
    pieces.push(bytes.toString('utf8', at + HEADER_BYTES, end))
    at = end
  }
  return pieces.join('')
}

export function engineError(error: unknown): CloudError {
  const first = error instanceof RunnerUnavailableError ? error.cause : error
  const status = statusOf(first)
  if (status !== undefined)
    return new CloudError(problemOfStatus(status), engineMessage(first), { cause: error })
  if (codeOf(first) === 'EACCES') return new CloudError('credentials', errorText(error), { cause: error })
  if (!(error instanceof RunnerUnavailableError)) return unreachable('the docker engine', error)
  return new CloudError('unavailable', error.message, { cause: error })
}

const codeOf = (error: unknown): unknown => (Error.isError(error) && 'code' in error ? error.code : undefined)
