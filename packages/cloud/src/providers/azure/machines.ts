import type { VirtualMachine } from '@azure/arm-compute'
import type { NetworkInterface, PublicIPAddress } from '@azure/arm-network'
import type { Machine, MachineRequest, MachineState } from '../../provider.ts'
import { labelsOfTags, labelsToTags } from '../labels.ts'
import type { AzureSettings } from '../settings.ts'
import { required } from './clients.ts'

/** Azure chooses the names of network cards and addresses itself. */
export const NAME_TAG = 'scanfarm-name'
/** API version with which the compute service creates card and address; the newest one that it accepts. */
const NETWORK_VERSION = '2022-11-01'

/** Network cards and public addresses of machines. */
export interface Network {
  readonly cards: readonly NetworkInterface[]
  readonly addresses: readonly PublicIPAddress[]
}

export function machineOf(vm: VirtualMachine, network: Network, privateAddress: boolean): Machine {
  const card = vm.networkProfile?.networkInterfaces?.[0]?.id
  return {
    id: vm.name ?? '',
    name: vm.name ?? '',
    state: stateOf(vm),
    address: addressOf(network, card, privateAddress),
    port: 22,
    labels: labelsOfTags(vm.tags ?? {}),
    message: messageOf(vm),
  }
}

/** Cards and addresses without a machine, after an incomplete creation or deletion: each is reported as a stopping machine. */
export function leftoversOf({ cards, addresses }: Network, machines: readonly Machine[]): Machine[] {
  const names = new Set(machines.map(({ name }) => name))
  const left = new Map<string, Machine>()
  for (const { tags = {} } of [...cards, ...addresses]) {
    const name = tags[NAME_TAG]
    if (name === undefined || names.has(name) || left.has(name)) continue
    left.set(name, {
      id: name,
      name,
      state: 'stopping',
      address: undefined,
      port: 22,
      labels: labelsOfTags(tags),
      message: 'Only its network card or its address exists',
    })
  }
  return [...left.values()]
}

const POWER: Readonly<Record<string, MachineState>> = {
  'PowerState/starting': 'starting',
  'PowerState/running': 'running',
  'PowerState/stopping': 'stopping',
  'PowerState/stopped': 'stopping',
  'PowerState/deallocating': 'stopping',
  'PowerState/deallocated': 'stopping',
}

/** Lists contain no power state: a machine that was provisioned is assumed to run. */
function stateOf({ provisioningState, instanceView }: VirtualMachine): MachineState {
  if (provisioningState === 'Deleting' || provisioningState === 'Failed') return 'stopping'
  const power = instanceView?.statuses
    ?.map(({ code = '' }) => POWER[code])
    .find((state) => state !== undefined)
  return power ?? (provisioningState === 'Succeeded' ? 'running' : 'starting')
}

function messageOf({ provisioningState, instanceView }: VirtualMachine): string {
  const error = instanceView?.statuses?.find(({ level }) => level === 'Error')
  if (error) return error.message ?? error.displayStatus ?? ''
  return provisioningState === 'Failed' ? 'Azure could not create the machine' : ''
}

/** Azure does not keep the case of ids. */
export const sameId = (one: string | undefined, other: string | undefined): boolean =>
  one !== undefined && one.toLowerCase() === other?.toLowerCase()

function addressOf({ cards, addresses }: Network, card: string | undefined, privateAddress: boolean) {
  const [config] = cards.find(({ id }) => sameId(id, card))?.ipConfigurations ?? []
  if (privateAddress) return config?.privateIPAddress || undefined
  return addresses.find(({ id }) => sameId(id, config?.publicIPAddress?.id))?.ipAddress || undefined
}

/** Creates machine, disk, network card and address in one call, tagged, and deleted together with the machine. */
export function machinePlan(request: MachineRequest, settings: AzureSettings): VirtualMachine {
  const { name, sshUser } = request
  const tags = { [NAME_TAG]: name, ...labelsToTags(request.labels) }
  return {
    location: request.region,
    tags,
    hardwareProfile: { vmSize: request.type },
    storageProfile: {
      imageReference: imageOf(request.type, settings.image),
      osDisk: { createOption: 'FromImage', deleteOption: 'Delete', osType: 'Linux' },
    },
    osProfile: {
      computerName: name,
      adminUsername: sshUser,
      customData: Buffer.from(request.userData).toString('base64'),
      linuxConfiguration: {
        disablePasswordAuthentication: true,
        ssh: {
          publicKeys: [{ path: `/home/${sshUser}/.ssh/authorized_keys`, keyData: request.publicKey }],
        },
      },
    },
    networkProfile: {
      networkApiVersion: NETWORK_VERSION,
      networkInterfaceConfigurations: [
        {
          name,
          tags,
          primary: true,
          deleteOption: 'Delete',
          ipConfigurations: [
            {
              name,
              primary: true,
              subnet: { id: subnetId(settings) },
              ...(!settings.privateAddress && {
                publicIPAddressConfiguration: {
                  name,
                  tags,
                  deleteOption: 'Delete',
                  sku: { name: 'Standard' },
                  publicIPAllocationMethod: 'Static',
                },
              }),
            },
          ],
        },
      ],
    },
    // Up to the on-demand price: machines are evicted only for lack of capacity.
    ...(request.spot && { priority: 'Spot', evictionPolicy: 'Delete', billingProfile: { maxPrice: -1 } }),
  }
}

function subnetId(settings: AzureSettings): string {
  const subnet = required(settings, 'subnet')
  if (subnet.startsWith('/')) return subnet
  const [network, name] = subnet.split('/')
  const group = `/subscriptions/${required(settings, 'subscription')}/resourceGroups/${required(settings, 'resourceGroup')}`
  return `${group}/providers/Microsoft.Network/virtualNetworks/${network}/subnets/${name}`
}

/** Types with Arm processors have a `p` after the size: `Standard_D2ps_v5`. */
const isArm = (type: string): boolean => /^Standard_[A-Z]+\d+(-\d+)?[a-z]*p[a-z]*_/.test(type)

function imageOf(type: string, image: string | undefined) {
  if (image?.startsWith('/')) return { id: image }
  const sku = isArm(type) ? 'server-arm64' : 'server'
  const [publisher, offer, named, version] = (image ?? `Canonical:ubuntu-24_04-lts:${sku}:latest`).split(':')
  return { publisher, offer, sku: named, version: version ?? 'latest' }
}
