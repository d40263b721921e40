import type { VirtualMachine } from '@azure/arm-compute'
import type { NetworkInterface, PublicIPAddress } from '@azure/arm-network'
import type { Machine, MachineState } from '../../provider.ts'
import { labelsOfTags } from '../label-keys.ts'
import { NAME_TAG } from './machine-plan.ts'

/** Cards and addresses, of which machines have theirs. */
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

/** What is left of machines that were not made, or not deleted, whole: each is a machine on its way out. */
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
      message: 'Only its network card or its address is there',
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

/** Lists come without the power state: there, what was made is taken to run. */
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
  return provisioningState === 'Failed' ? 'Azure could not make it' : ''
}

/** Azure writes one id now in small letters, now in large ones. */
export const sameId = (one: string | undefined, other: string | undefined): boolean =>
  one !== undefined && one.toLowerCase() === other?.toLowerCase()

function addressOf({ cards, addresses }: Network, card: string | undefined, privateAddress: boolean) {
  const [config] = cards.find(({ id }) => sameId(id, card))?.ipConfigurations ?? []
  if (privateAddress) return config?.privateIPAddress || undefined
  return addresses.find(({ id }) => sameId(id, config?.publicIPAddress?.id))?.ipAddress || undefined
}
