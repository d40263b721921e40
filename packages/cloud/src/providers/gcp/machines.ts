import { createHash } from 'node:crypto'
import { CloudError, type Machine, type MachineRequest, type MachineState } from '../../provider.ts'
import { labelsOfTags, labelsToTags } from '../labels.ts'
import type { GcpSettings } from '../settings.ts'
import type { Instance } from './compute.ts'

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
  // Stopped by a user or by an interruption. Its disk exists until the instance is deleted.
  TERMINATED: 'stopping',
}
/** The cloud itself deletes a machine this long after its expiry. */
const GRACE_S = 600
/** The longest run duration that the cloud accepts. */
const LONGEST_RUN_S = 120 * 86_400
const SHORTEST_RUN_S = 30
const UBUNTU = 'projects/ubuntu-os-cloud/global/images/family/ubuntu-2404-lts'

/** For a region, the first zone of the settings in it. */
export function zoneOf(region: string, { zone, zones }: GcpSettings): string {
  if (/-[a-z]$/.test(region)) return region
  const found = [...(zone === undefined ? [] : [zone]), ...zones].find((one) => one.startsWith(`${region}-`))
  if (found) return found
  throw new CloudError(
    'refused',
    `gcp creates machines in a zone like ${region}-b, and cloud.regions has none in ${region}`,
  )
}

export function machineOf(instance: Instance, privateAddress: boolean): Machine {
  const [card] = instance.networkInterfaces ?? []
  const external = card?.accessConfigs?.find(({ natIP }) => natIP)?.natIP
  const { name } = instance
  return {
    id: `${instance.zone.split('/').at(-1)}/${name}`,
    name,
    state: STATES[instance.status] ?? 'starting',
    address: (privateAddress ? card?.networkIP : external) || undefined,
    port: 22,
    labels: labelsOfTags(instance.labels ?? {}),
    message: instance.statusMessage ?? '',
  }
}

/** The same for the same name: for a second call the cloud returns the operation of the first. */
export function requestIdOf({ name, labels }: MachineRequest): string {
  const hex = createHash('sha256').update(`${labels.farm} ${name}`).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

export function instanceOf(request: MachineRequest, zone: string, settings: GcpSettings): object {
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
        // Only the key of the infrastructure is accepted, no other keys of the project.
        { key: 'block-project-ssh-keys', value: 'TRUE' },
        { key: 'enable-oslogin', value: 'FALSE' },
      ],
    },
    scheduling: {
      instanceTerminationAction: 'DELETE',
      maxRunDuration: { seconds: String(runSeconds(request.labels.expires)) },
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

/** Machine series with Arm processors. */
const architectureOf = (type: string): string => (/^(t2a|c4a|n4a|a4x)-/.test(type) ? 'arm64' : 'amd64')

function networkOf(network: string | undefined) {
  if (network?.includes('subnetworks/')) return { subnetwork: network }
  const name = network ?? 'default'
  return { network: name.includes('/') ? name : `global/networks/${name}` }
}
