import { createHash } from 'node:crypto'
import type { protos } from '@google-cloud/compute'
import { CloudError, type Machine, type MachineRequest, type MachineState } from '../../provider.ts'
import { labelsOfTags, labelsToTags } from '../label-keys.ts'
import type { GcpSettings } from './settings.ts'

export type Instance = protos.google.cloud.compute.v1.IInstance

const STATES: Readonly<Record<string, MachineState>> = {
  PROVISIONING: 'starting',
  STAGING: 'starting',
  REPAIRING: 'starting',
  RUNNING: 'running',
  PENDING_STOP: 'stopping',
  STOPPING: 'stopping',
  DEPROVISIONING: 'stopping',
  SUSPENDING: 'stopping',
  SUSPENDED: 'stopping',
  STOPPED: 'stopping',
  // Stopped, by somebody or by an interruption; its disk is there until it is deleted.
  TERMINATED: 'stopping',
}
/** Should nobody else destroy a machine, the cloud does so that much later. */
const GRACE_S = 600
/** What the cloud takes for the longest run. */
const LONGEST_RUN_S = 120 * 86_400
const SHORTEST_RUN_S = 30
const UBUNTU = 'projects/ubuntu-os-cloud/global/images/family/ubuntu-2404-lts'

export interface Place {
  readonly zone: string
  readonly instance: string
}

export function parseId(id: string): Place {
  const [zone, instance] = id.split('/')
  if (!zone || !instance) throw new CloudError('refused', `"${id}" is no machine of gcp: want zone/name`)
  return { zone, instance }
}

/** A zone as it is; of a region the first of the settings' zones in it. */
export function zoneOf(region: string, { zone, zones }: GcpSettings): string {
  if (/-[a-z]$/.test(region)) return region
  const found = [...(zone === undefined ? [] : [zone]), ...zones].find((one) => one.startsWith(`${region}-`))
  if (found) return found
  throw new CloudError(
    'refused',
    `gcp makes machines in a zone, such as ${region}-b, and the settings name none in ${region}`,
  )
}

export function machineOf(instance: Instance, privateAddress: boolean): Machine {
  const [card] = instance.networkInterfaces ?? []
  const outside = card?.accessConfigs?.find(({ natIP }) => natIP)?.natIP
  const name = instance.name ?? ''
  return {
    id: `${(instance.zone ?? '').split('/').at(-1)}/${name}`,
    name,
    state: STATES[instance.status ?? ''] ?? 'starting',
    address: (privateAddress ? card?.networkIP : outside) || undefined,
    port: 22,
    labels: labelsOfTags(instance.labels ?? {}),
    message: instance.statusMessage ?? '',
  }
}

/** The same for the same name: the cloud answers a second call with the operation of the first. */
export function requestIdOf({ name, labels }: MachineRequest): string {
  const hex = createHash('sha256').update(`${labels.farm} ${name}`).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

export function instanceOf(request: MachineRequest, zone: string, settings: GcpSettings): Instance {
  const labels = labelsToTags(request.labels)
  return {
    name: request.name,
    machineType: `zones/${zone}/machineTypes/${request.type}`,
    labels,
    disks: [
      {
        boot: true,
        autoDelete: true,
        initializeParams: {
          sourceImage: settings.image ?? `${UBUNTU}-${architectureOf(request.type)}`,
          labels,
        },
      },
    ],
    networkInterfaces: [
      {
        ...networkOf(settings.network),
        ...(!settings.privateAddress && {
          accessConfigs: [{ name: 'External NAT', type: 'ONE_TO_ONE_NAT' }],
        }),
      },
    ],
    metadata: {
      items: [
        { key: 'user-data', value: request.userData },
        { key: 'ssh-keys', value: `${request.sshUser}:${request.publicKey}` },
        // Only the key of the infrastructure opens the machine, not those of everybody in the project.
        { key: 'block-project-ssh-keys', value: 'TRUE' },
        { key: 'enable-oslogin', value: 'FALSE' },
      ],
    },
    scheduling: {
      instanceTerminationAction: 'DELETE',
      maxRunDuration: { seconds: runSeconds(request.labels.expires) },
      ...(request.spot && {
        provisioningModel: 'SPOT',
        automaticRestart: false,
        onHostMaintenance: 'TERMINATE',
      }),
    },
  }
}

const runSeconds = (expires: number): number =>
  Math.min(LONGEST_RUN_S, Math.max(SHORTEST_RUN_S, Math.round(expires - Date.now() / 1_000) + GRACE_S))

/** Series of Arm processors. */
const architectureOf = (type: string): string => (/^(t2a|c4a|n4a|a4x)-/.test(type) ? 'arm64' : 'amd64')

function networkOf(network: string | undefined) {
  if (network?.includes('subnetworks/')) return { subnetwork: network }
  const name = network ?? 'default'
  return { network: name.includes('/') ? name : `global/networks/${name}` }
}
