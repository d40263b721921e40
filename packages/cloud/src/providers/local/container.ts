import { createHash } from 'node:crypto'
import type { ContainerCreateOptions, ContainerInspectInfo } from 'dockerode'
import { CloudError, type Machine, type MachineLabels, type MachineRequest } from '../../provider.ts'
import { BOOT_COMMAND } from './boot-files.ts'

/** Bounds of a machine by its type. */
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
/** What sshd and the setup commands need; no program in the container can get more. */
const CAPABILITIES = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'SETGID', 'SETUID', 'SYS_CHROOT']

export const filterOf = (facts: Partial<Record<keyof typeof LABELS, string>>): Record<string, string[]> => ({
  label: [LABELS.name, ...Object.entries(facts).map(([key, value]) => `scanfarm.${key}=${value}`)],
})

/** The engine makes no two of one name, so that asking twice makes one machine; farms do not see each other's. */
export const containerName = (farm: string, name: string): string =>
  `scanfarm-${createHash('sha256').update(farm).digest('hex').slice(0, 12)}-${name}`

export interface Place {
  readonly imageId: string
  readonly network: string
  readonly cpusOfEngine: number
  /** Containers cannot be reached by their own addresses: a port of the loopback address leads to sshd. */
  readonly publish: boolean
}

export const isKind = (region: string, type: string): boolean => region === REGION && SIZES.has(type)

/** Rejects with `refused` a type or region that there is not. */
export function checkKind({ type, region }: MachineRequest): Size {
  const size = SIZES.get(type)
  if (size === undefined)
    throw new CloudError(
      'refused',
      `the local provider has no type ${type}; it has ${[...SIZES.keys()].join(', ')}`,
    )
  if (region !== REGION)
    throw new CloudError('refused', `the local provider has no region ${region}; it has ${REGION} alone`)
  return size
}

export function containerOptions(request: MachineRequest, place: Place): ContainerCreateOptions {
  const size = checkKind(request)
  const { farm, infra, expires } = request.labels
  return {
    name: containerName(farm, request.name),
    Hostname: request.name,
    Image: place.imageId,
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
      NetworkMode: place.network,
      PortBindings: place.publish
        ? { [`${SSH_PORT}/tcp`]: [{ HostIp: '127.0.0.1', HostPort: '' }] }
        : undefined,
      Memory: size.memoryBytes,
      MemorySwap: size.memoryBytes,
      NanoCpus: Math.floor(Math.min(size.cpus, place.cpusOfEngine) * NANO),
      PidsLimit: PROCESSES,
      CapDrop: ['ALL'],
      CapAdd: CAPABILITIES,
      SecurityOpt: ['no-new-privileges:true'],
      LogConfig: { Type: 'json-file', Config: { 'max-size': '1m', 'max-file': '1' } },
    },
  }
}

/** One that has ended, or was never started by a program that died, is there until it is destroyed. */
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
