import type { VirtualMachine } from '@azure/arm-compute'
import type { CloudProvider, Machine } from '../../provider.ts'
import { callOnce, callWithRetry, type CallLimits } from '../calls.ts'
import { isNotFound } from '../errors.ts'
import { LABEL_KEYS, madeFor, startingMachine } from '../labels.ts'
import { azurePrice } from '../prices.ts'
import type { AzureSettings } from '../settings.ts'
import { openClients, required, type Clients } from './clients.ts'
import { isTaken, problemOf } from './errors.ts'
import { collected, deleteLeftovers, findNetwork, ignoreNotFound } from './leftovers.ts'
import { leftoversOf, machineOf, machinePlan, NAME_TAG } from './machines.ts'

const DEFAULT_REGION = 'westeurope'
const DEFAULT_TYPE = 'Standard_B2s'
/** Created by the machine's agent. Azure accepts neither `root` nor `admin`. */
const SSH_USER = 'scanfarm'

/** Machines are virtual machines of one resource group; ids are their names. */
export function createAzureProvider(settings: AzureSettings, limits: CallLimits = {}): CloudProvider {
  const clients = openClients(settings)

  const read = async <T>(
    signal: AbortSignal,
    call: (at: Clients, abortSignal: AbortSignal) => Promise<T>,
  ) => {
    const at = await clients()
    return callWithRetry((abortSignal) => call(at, abortSignal), { ...limits, signal, problemOf })
  }

  const findVm = async (name: string, signal: AbortSignal): Promise<VirtualMachine | undefined> => {
    try {
      return await read(signal, ({ compute, group }, abortSignal) =>
        compute.virtualMachines.get(group, name, { expand: 'instanceView', abortSignal }),
      )
    } catch (error) {
      if (isNotFound(error)) return undefined
      throw error
    }
  }

  const find = async (name: string, signal: AbortSignal): Promise<Machine | undefined> => {
    // In this order: the machine of a card that is listed first exists afterwards or is gone.
    const network = await findNetwork(await clients(), { key: NAME_TAG, value: name }, { ...limits, signal })
    const vm = await findVm(name, signal)
    if (vm) return machineOf(vm, network, settings.privateAddress)
    return leftoversOf(network, [])[0]
  }

  return {
    name: 'azure',
    defaults: {
      region: settings.region ?? DEFAULT_REGION,
      type: settings.type ?? DEFAULT_TYPE,
      sshUser: SSH_USER,
    },

    async check(signal) {
      required(settings, 'subnet')
      await read(signal, async ({ compute, group }, abortSignal) => {
        for await (const _ of compute.virtualMachines.list(group, { abortSignal }).byPage()) return
      })
    },

    async create(request, signal) {
      const plan = machinePlan(request, settings)
      const { compute, group } = await clients()
      try {
        await callOnce(
          (abortSignal) =>
            compute.virtualMachines
              // Never changes an existing machine.
              .createOrUpdate(group, request.name, plan, { ifNoneMatch: '*', abortSignal })
              .submitted(),
          { ...limits, signal, problemOf },
        )
      } catch (error) {
        const there = isTaken(error) ? madeFor(request, await find(request.name, signal)) : undefined
        if (there) return there
        throw error
      }
      return startingMachine(request.name, request)
    },

    describe: find,

    /** Card, address and disk are deleted with the machine. Without a machine, its leftovers are deleted. */
    async destroy(id, signal) {
      if ((await findVm(id, signal)) === undefined)
        return deleteLeftovers(await clients(), id, { ...limits, signal })
      await ignoreNotFound(
        read(signal, async ({ compute, group }, abortSignal) => {
          await compute.virtualMachines.delete(group, id, { abortSignal }).submitted()
        }),
      )
    },

    async list(farm, signal) {
      // In this order, as above: otherwise a machine that is being created would look like leftovers.
      const ofFarm = { key: LABEL_KEYS.farm, value: farm }
      const network = await findNetwork(await clients(), ofFarm, { ...limits, signal })
      const vms = await read(signal, ({ compute, group }, abortSignal) =>
        collected(compute.virtualMachines.list(group, { abortSignal })),
      )
      const machines = vms
        .filter(({ tags }) => tags?.[LABEL_KEYS.farm] === farm)
        .map((vm) => machineOf(vm, network, settings.privateAddress))
      return [...machines, ...leftoversOf(network, machines)]
    },

    async price({ region, type }) {
      return azurePrice(region, type)
    },

    /** The clients hold no connections open. */
    async [Symbol.asyncDispose]() {},
  }
}
