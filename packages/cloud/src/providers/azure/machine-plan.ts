import type { VirtualMachine } from '@azure/arm-compute'
import type { MachineRequest } from '../../provider.ts'
import { labelsToTags } from '../label-keys.ts'
import { wanted } from './clients.ts'
import type { AzureSettings } from './settings.ts'

/** Azure names a machine's card and address as it likes. */
export const NAME_TAG = 'scanfarm-name'
/** Of the network service, which the compute service asks for card and address; the newest one it takes. */
const NETWORK_VERSION = '2022-11-01'

/** One call that makes machine, disk, network card and address, labels them, and has all of them deleted with the machine. */
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
    // Up to the price on demand, so that machines go for lack of room only.
    ...(request.spot && { priority: 'Spot', evictionPolicy: 'Delete', billingProfile: { maxPrice: -1 } }),
  }
}

function subnetId(settings: AzureSettings): string {
  const subnet = wanted(settings, 'subnet')
  if (subnet.startsWith('/')) return subnet
  const [network, name] = subnet.split('/')
  const group = `/subscriptions/${wanted(settings, 'subscription')}/resourceGroups/${wanted(settings, 'resourceGroup')}`
  return `${group}/providers/Microsoft.Network/virtualNetworks/${network}/subnets/${name}`
}

/** Types of Arm processors have a `p` after their size: `Standard_D2ps_v5`. */
const isArm = (type: string): boolean => /^Standard_[A-Z]+\d+(-\d+)?[a-z]*p[a-z]*_/.test(type)

function imageOf(type: string, image: string | undefined) {
  if (image?.startsWith('/')) return { id: image }
  const sku = isArm(type) ? 'server-arm64' : 'server'
  const [publisher, offer, named, version] = (image ?? `Canonical:ubuntu-24_04-lts:${sku}:latest`).split(':')
  return { publisher, offer, sku: named, version: version ?? 'latest' }
}
