import type { VirtualMachine } from '@azure/arm-compute'
import type { CloudProvider, Machine } from '../../provider.ts'
import { callOnce, repeatSafe, type CallLimits } from '../calls.ts'
import { LABEL_KEYS } from '../label-keys.ts'
import { openClients, wanted, type Clients } from './clients.ts'
import { collected, deleteLeftovers, findNetwork, unlessGone } from './leftovers.ts'
import { machinePlan, NAME_TAG } from './machine-plan.ts'
import { leftoversOf, machineOf } from './machines.ts'
import { onDemandPrice } from './prices.ts'
import { isNotFound, isTaken, problemOf } from './problems.ts'
import { DEFAULT_REGION, DEFAULT_TYPE, SSH_USER, type AzureSettings } from './settings.ts'

export type { AzureSettings }

/** Machines are virtual machines of one resource group; ids are their names. */
export function createAzureProvider(settings: AzureSettings, limits: CallLimits = {}): CloudProvider {
  const clients = openClients(settings)

  const read = async <T>(
    signal: AbortSignal,
    call: (at: Clients, abortSignal: AbortSignal) => Promise<T>,
  ) => {
    const at = await clients()
    return repeatSafe((abortSignal) => call(at, abortSignal), { ...limits, signal, problemOf })
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
    // In this order: a card that is seen now belongs to a machine that is there then, or no longer.
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
      wanted(settings, 'subnet')
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
              // Never changes one that is there.
              .createOrUpdate(group, request.name, plan, { ifNoneMatch: '*', abortSignal })
              .submitted(),
          { ...limits, signal, problemOf },
        )
      } catch (error) {
        const there = isTaken(error) ? await find(request.name, signal) : undefined
        if (there?.labels.farm === request.labels.farm && there.labels.infra === request.labels.infra)
          return there
        throw error
      }
      return {
        id: request.name,
        name: request.name,
        state: 'starting',
        address: undefined,
        port: 22,
        labels: request.labels,
        message: '',
      }
    },

    async describe(id, signal) {
      return find(id, signal)
    },

    /** Card, address and disk go with the machine. Where there is no machine any more, what is left of it goes. */
    async destroy(id, signal) {
      if ((await findVm(id, signal)) === undefined)
        return deleteLeftovers(await clients(), id, { ...limits, signal })
      await unlessGone(
        read(signal, async ({ compute, group }, abortSignal) => {
          await compute.virtualMachines.delete(group, id, { abortSignal }).submitted()
        }),
      )
    },

    async list(farm, signal) {
      // In this order, as above: a machine that is being made would look like its leftovers otherwise.
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
      return settings.prices[type] ?? onDemandPrice(region, type)
    },

    /** The clients keep nothing open. */
    async [Symbol.asyncDispose]() {},
  }
}
